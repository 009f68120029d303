"""What a team declares about one of its tools."""

from __future__ import annotations

from collections.abc import Callable
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
        wording: free-text arguments; they never tell two intents apart.
        volatile: nonces, besides the names of `DEFAULT_VOLATILE`.
        required_fields: of a hand-off, the arguments that say what was found out so far; with them
            declared, everything else in it but its identity is talk.
        poll: asking again until something is ready is normal; bounded by time, not by count.
        can_diagnose: a read that may run once more when the run gets nowhere, to see why.
        result_id: field of a result that carries the stable id of what was written.
        reconcile: the authoritative read that settles a write whose answer was lost:
            the name of a guarded read tool, or a callable. It is called with the
            write's identity arguments.
        late_effect_s: seconds after which an effect that has not shown up never will.
            Undeclared: an absent effect proves nothing, and the write stays held.
        definite_failures: exception types, or class names, that prove that nothing happened.
        error_field: field of a result that tells of an error when it is not empty. A value that is
            one of `definite_failures` proves that nothing happened.
        denials: exception types, or class names, by which policy says no; nothing happened. An
            attribute `rule` of the exception names the rule.
        result_version: field of a result that carries the record's business version.
        result_volatile: fields of a result that change by themselves, besides the default names.
        expected_duration_s: seconds that a call takes; not started when less is left.
    """

    name: str
    effect: Effect
    operation: str | None = None
    identity: tuple[str, ...] | None = None
    wording: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    required_fields: tuple[str, ...] = ()
    poll: bool = False
    can_diagnose: bool = False
    result_id: str | None = None
    result_version: str | None = None
    result_volatile: tuple[str, ...] = ()
    reconcile: str | Reconciler | None = None
    late_effect_s: float | None = None
    definite_failures: tuple[Failure, ...] = ()
    error_field: str | None = None
    denials: tuple[Failure, ...] = ()
    expected_duration_s: float | None = None

    def __post_init__(self) -> None:
        """Take an effect by its plain name too; raises ValueError for one that does not exist."""
        effect: object = self.effect  # as the caller gave it, whatever the annotation says
        if not isinstance(effect, Effect):
            msgspec.structs.force_setattr(self, "effect", parse_effect(str(effect)))

    @property
    def mutates(self) -> bool:
        """Whether a call needs a side-effect slot and a ledger entry."""
        return self.effect is Effect.WRITE

    @property
    def kind(self) -> str:
        """The operation class, or the tool's own name where none was declared."""
        return self.operation or self.name


#: Where `@tool_spec` leaves what it was told.
ATTRIBUTE = "__tripwire_spec__"


def spec_of(tool: object) -> ToolSpec | None:
    """What `tool_spec` declared about `tool`, if it did."""
    spec = getattr(tool, ATTRIBUTE, None)
    return spec if isinstance(spec, ToolSpec) else None
