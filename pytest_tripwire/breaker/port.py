"""What the breaker needs from outside: a clock, a ledger, a policy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from pytest_tripwire.timeline import (
    InterruptionRecord,
    ToolCall,
    ToolSpec,
    WriteEntry,
    WriteStatus,
)


class Clock(Protocol):
    """Seconds, from a source that a test can replace."""

    def now(self) -> float:
        """Seconds since any fixed moment; never goes back."""

    def sleep(self, seconds: float) -> None:
        """Return when `seconds` have passed on this clock."""

    async def asleep(self, seconds: float) -> None:
        """The same, without holding up other tasks."""

    async def within(self, seconds: float, work: Awaitable[Any]) -> Any:
        """Await `work`, and cancel it when `seconds` have passed on this clock. Raises
        TimeoutError then.
        """


Conflict: TypeAlias = Callable[[Sequence[WriteEntry]], WriteEntry | None]


class Ledger(Protocol):
    """Where writes and interruptions are kept. One owner of the truth, shared by many runs."""

    def begin(self, entry: WriteEntry, conflict: Conflict) -> WriteEntry | None:
        """Store `entry` before its write is dispatched, unless `conflict`, given the entries of
        its resource in order, names one that stands in the way. The check and the insertion are
        one atomic step. Returns that entry, or None when `entry` was stored.
        """

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first."""

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        """Every write of one run, oldest first."""

    def settle(
        self,
        key: str,
        status: WriteStatus,
        *,
        result_id: str | None = None,
        reconciled: bool = False,
        came_back: bool = False,
    ) -> None:
        """Say what is now certain of the write `key`. What is certain stays so: `unknown` never
        replaces `confirmed` or `rejected`. Raises KeyError if it was never begun.
        """

    def store_record(self, record: InterruptionRecord) -> None:
        """Keep an interruption record; replaces the record of the same run."""

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """The record of a run, if it was interrupted."""

    def claim(self, run_id: str, token_version: int) -> InterruptionRecord | None:
        """Take an interrupted run up: raise its token version by one and return the record as it
        was. Returns None, and changes nothing, when the version is another one by now. Atomic, so
        that of several who try one wins.
        """


class Denial(msgspec.Struct, frozen=True, kw_only=True):
    """A policy's no. `rule` names the rule, so that a rephrasing of one denied call is one intent;
    `message` is told to the model.
    """

    rule: str
    message: str = ""


Policy: TypeAlias = Callable[[ToolCall, ToolSpec], Denial | None]


def allow_everything(_call: ToolCall, _spec: ToolSpec) -> Denial | None:
    """The default policy."""
    return None
