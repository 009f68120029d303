"""What the breaker needs from outside: a clock, a ledger, a policy."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias

import msgspec

from pytest_tripwire.timeline import (
    ApprovalNote,
    DenialNote,
    InterruptionRecord,
    SafeAction,
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


class SupersededError(Exception):
    """A run that somebody else has taken up since may not write any more."""


class Right(msgspec.Struct, frozen=True, kw_only=True):
    """The right of a run to write: it lasts until its record has a later token version."""

    run_id: str
    token_version: int


class Ledger(Protocol):
    """Where writes and interruptions are kept. One owner of the truth, shared by many runs."""

    @property
    def durable(self) -> bool:
        """Whether it outlives the process, and is shared with others. Its methods may then wait for
        a disk or a network.
        """

    @property
    def owner(self) -> str:
        """Names this process in entries; empty where no other can see them."""

    def is_gone(self, owner: str) -> bool:
        """Whether the process of this name has certainly ended. In doubt it has not."""

    def begin(
        self,
        entry: WriteEntry,
        conflict: Conflict,
        *,
        ahead: InterruptionRecord | None = None,
        under: Sequence[Right] = (),
    ) -> WriteEntry | None:
        """Store `entry` before its write is dispatched, unless `conflict`, given the entries that
        are `bearing` on it in order, names one that stands in the way. The check and the insertion
        are one atomic step. Returns that entry, or None when `entry` was stored.

        `ahead` is what the record of the run would be if its process died now; the last one is
        kept, for whoever finds the write and nobody who made it.

        `under` are the runs that this one works for. Left out where there are none.

        Raises SupersededError when the run's record has a later token version than `ahead`, or that
        of a run that it works for a later one than its right.
        """

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first."""

    def bearing(self, resource: str, work: str) -> tuple[WriteEntry, ...]:
        """The writes of one resource that decide about the next one of the piece of work `work`,
        oldest first: those that are not settled, and all since the first of that work. What a
        decision costs must not grow with all that was ever written.
        """

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
        """Say what is now certain of the write `key`. What is certain stays so: nothing replaces
        `confirmed` or the id that was said with it, and only `confirmed` replaces `rejected`.
        Raises KeyError if it was never begun.
        """

    def store_record(self, record: InterruptionRecord) -> None:
        """Keep an interruption record; replaces the record of the same run, unless that has a later
        token version.
        """

    def forget_ahead(self, run_id: str) -> None:
        """A run has ended well, and all its writes are certain: nobody will ask what its record
        would have been. May be left undone.
        """

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """The record of a run, if it was interrupted."""

    def claim(
        self,
        run_id: str,
        token_version: int,
        *,
        operator: str = "",
        action: SafeAction = SafeAction.RESUME,
    ) -> InterruptionRecord | None:
        """Take an interrupted run up: raise its token version by one and return the record as it
        was. Returns None, and changes nothing, when the version is another one by now, or the
        interruption is over. Atomic, so that of several who try one wins.
        """

    def note_denials(self, run_id: str, notes: Sequence[DenialNote]) -> None:
        """Keep what tools have denied a run; replaces what was kept of the same kind and resource.
        No notes forget all of the run's.
        """

    def denials_of(self, run_id: str) -> tuple[DenialNote, ...]:
        """What tools have denied a run, oldest first."""

    def keep_approval(self, note: ApprovalNote) -> None:
        """Keep a call that waits for a yes, or has got it; replaces the one of the same id."""

    def approvals_of(self, run_id: str) -> tuple[ApprovalNote, ...]:
        """The calls of a run that wait for a yes, or have got it, oldest first."""

    def use_approval(self, run_id: str, call_id: str, times: int = 1) -> bool:
        """Take `times` attempts from a granted call that has so many left; a negative number gives
        them back. Atomic. Returns whether it was done.
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
