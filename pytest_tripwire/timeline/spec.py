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
        result_id: field of a result that carries the stable id of what was written.
        reconcile: the authoritative read that settles a write whose answer was lost:
            the name of a guarded read tool, or a callable. It is called with the
            write's identity arguments.
        late_effect_s: seconds after which an effect that has not shown up never will.
            Undeclared: an absent effect proves nothing, and the write stays held.
        definite_failures: exception types, or class names, that prove that nothing happened.
    """

    name: str
    effect: Effect
    operation: str | None = None
    identity: tuple[str, ...] | None = None
    wording: tuple[str, ...] = ()
    volatile: tuple[str, ...] = ()
    result_id: str | None = None
    reconcile: str | Reconciler | None = None
    late_effect_s: float | None = None
    definite_failures: tuple[Failure, ...] = ()

    @property
    def mutates(self) -> bool:
        """Whether a call needs a side-effect slot and a ledger entry."""
        return self.effect is Effect.WRITE

    @property
    def kind(self) -> str:
        """The operation class, or the tool's own name where none was declared."""
        return self.operation or self.name
