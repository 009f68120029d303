"""What a team declares about one of its tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec


class Effect(StrEnum):
    """What running a tool can do to the business."""

    READ = "read"
    WRITE = "write"
    HANDOFF = "handoff"


def parse_effect(effect: Effect | str) -> Effect:
    """`effect` as a value; raises ValueError with the choices."""
    try:
        return Effect(effect)
    except ValueError:
        choices = ", ".join(each.value for each in Effect)
        raise ValueError(f"effect={effect!r}: a tool's effect is one of {choices}") from None


Failure: TypeAlias = type[BaseException] | str
Reconciler: TypeAlias = Callable[..., Any]

#: Argument names that are taken for nonces without being declared: a model
#: mints them anew for every attempt, so they never tell two intents apart.
DEFAULT_VOLATILE = frozenset(
    {"request_id", "trace_id", "idempotency_key", "nonce", "timestamp", "correlation_id"}
)


class ToolSpec(msgspec.Struct, frozen=True, kw_only=True):
    """One tool, as the breaker sees it. Every field but `name` and `effect` has a safe default.

    Args:
        name: the name under which the model calls the tool.
        effect: `read`, `write` or `handoff`.
        operation: operation class; tools that do one thing by different roads share it.
        identity: arguments that say what is acted on. Undeclared: all of them.
        resource_patterns: regular expressions that recognise what is acted on inside free-form
            arguments, such as a shell command; what they find is the identity.
        wording: free-text arguments; they never tell two intents apart.
        volatile: nonces, besides the names of `DEFAULT_VOLATILE` and those that look like them.
        cursor: arguments that say where to go on; new values mean new coverage.
        required_fields: of a hand-off, the arguments that say what was found out so far; with them
            declared, everything else in it but its identity is talk.
        poll: asking again until something is ready is normal; bounded by time, not by count.
        can_diagnose: a read that may run once more when the run gets nowhere, to see why.
        repeatable: a write that is a new act each time it is asked for, such as counting up; it is
            never a duplicate of one that is confirmed. An unknown one is held all the same.
        requires_approval: not run before a person has said yes to this very call.
        denial_class: what a denial of this tool is about; tools that share it and what they act on
            share their denials.
        result_id: field of a result that carries the stable id of what was written.
        result_version: field of a result that carries the record's business version.
        result_progress: field of a result that says whether it brought anything: while it is empty
            nothing was found, whatever else is new in the result.
        result_volatile: fields of a result that change by themselves, besides the default names.
        result_volatile_patterns: regular expressions for what changes by itself inside a text.
        reconcile: the authoritative read that settles a write whose answer was lost:
            the name of a guarded read tool, or a callable. It is called with the
            write's identity arguments.
        late_effect_s: seconds after which an effect that has not shown up never will.
            Undeclared: an absent effect proves nothing, and the write stays held.
        definite_failures: exception types, or class names, that prove that nothing happened.
        transient_errors: exception types, or class names, of a service that is down for a while;
            of a write, they leave it unknown unless they are definite failures too.
        composite: the tool reads after it wrote, so that no error proves that nothing happened
            but a declared one.
        error_field: field of a result that tells of an error when it is not empty. A value that is
            one of `definite_failures` proves that nothing happened.
        denials: exception types, or class names, by which policy says no; nothing happened. An
            attribute `rule` of the exception names the rule.
        cost: what a call costs, US dollars; reserved before it runs.
        cost_field: field of a result that says what the call has cost, US dollars.
        key_argument: argument that takes the breaker's own idempotency key, bound to the intent.
        expected_duration_s: seconds that a call takes; not started when less is left.
    """

    name: str
    effect: Effect
    operation: str | None = None
    identity: tuple[str, ...] | None = None
    resource_patterns: tuple[str, ...] = ()
    wording: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    cursor: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()
    poll: bool = False
    can_diagnose: bool = False
    repeatable: bool = False
    requires_approval: bool = False
    denial_class: str | None = None
    result_id: str | None = None
    result_version: str | None = None
    result_progress: str | None = None
    result_volatile: tuple[str, ...] = ()
    result_volatile_patterns: tuple[str, ...] = ()
    reconcile: str | Reconciler | None = None
    late_effect_s: float | None = None
    definite_failures: tuple[Failure, ...] = ()
    transient_errors: tuple[Failure, ...] = ()
    composite: bool = False
    error_field: str | None = None
    denials: tuple[Failure, ...] = ()
    cost: Decimal | None = None
    cost_field: str | None = None
    key_argument: str | None = None
    expected_duration_s: float | None = None

    def __post_init__(self) -> None:
        """Take an effect by its plain name too; raises ValueError for one that does not exist."""
        effect: object = self.effect  # as the caller gave it, whatever the annotation says
        if not isinstance(effect, Effect):
            msgspec.structs.force_setattr(self, "effect", parse_effect(str(effect)))
        for name in ("late_effect_s", "expected_duration_s"):
            _check_seconds(self, name)
        if self.cost is not None:
            msgspec.structs.force_setattr(self, "cost", _dollars(self.name, self.cost))
        for pattern in (*self.resource_patterns, *self.result_volatile_patterns):
            _check_pattern(self.name, pattern)

    @property
    def mutates(self) -> bool:
        """Whether a call needs a side-effect slot and a ledger entry."""
        return self.effect is Effect.WRITE

    @property
    def kind(self) -> str:
        """The operation class, or the tool's own name where none was declared."""
        return self.operation or self.name


def _check_seconds(spec: ToolSpec, name: str) -> None:
    value = getattr(spec, name)
    if value is not None and not value >= 0:
        raise ValueError(f"ToolSpec of {spec.name!r}: {name}={value!r}: seconds, 0 or more")


def _dollars(tool: str, cost: object) -> Decimal:
    try:
        # By way of text: the Decimal of 0.1 itself has 55 digits.
        amount = Decimal(str(cost))
    except ArithmeticError:
        amount = Decimal(-1)
    if not (amount.is_finite() and amount >= 0):
        raise ValueError(f"ToolSpec of {tool!r}: cost={cost!r}: US dollars, 0 or more")
    return amount


def _check_pattern(tool: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f"ToolSpec of {tool!r}: {pattern!r} is no regular expression ({error})"
        ) from None


#: Where `@tool_spec` leaves what it was told.
ATTRIBUTE = "__tripwire_spec__"


def spec_of(tool: object) -> ToolSpec | None:
    """What `tool_spec` declared about `tool`, if it did."""
    spec = getattr(tool, ATTRIBUTE, None)
    return spec if isinstance(spec, ToolSpec) else None
