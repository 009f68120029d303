"""What a store gives an operator, besides what runs need of it."""

from __future__ import annotations

from typing import Protocol

import msgspec

from pytest_tripwire.breaker.port import Ledger
from pytest_tripwire.ledger.unread import Unread
from pytest_tripwire.timeline import (
    Became,
    Count,
    Happening,
    InterruptionRecord,
    Reason,
    WriteEntry,
    WriteStatus,
)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which records somebody wants to see; None for any.

    Args:
        open_only: those that are not over.
        tenant: on whose behalf.
        workflow: workflow and version.
        reason: why the run was interrupted.
        most: how many, the latest first.
    """

    open_only: bool = False
    tenant: str | None = None
    workflow: str | None = None
    reason: Reason | None = None
    most: int = 100


class Store(Ledger, Protocol):
    """A ledger that can be looked through.

    Every change of a record tells a `Happening`, in the same atomic step: the first record of an
    interruption `interrupted`, `claim` that it was `resumed` or `resumed_read_only`, a stored
    record whose `ended_as` is newly `reconciled` that, `resolve_write` and `end` what was done.

    What cannot be read is left out of `records`, `lost`, `happenings` and `counts`, and noted in
    `unread`; whoever asks for that very record or write gets an UnreadableError.
    """

    @property
    def unread(self) -> Unread:
        """What was left out so far."""

    def records(self, wanted: Wanted) -> tuple[InterruptionRecord, ...]:
        """Records, the latest interruption first."""

    def entry(self, key: str) -> WriteEntry | None:
        """One write."""

    def lost(self, now: float) -> tuple[InterruptionRecord, ...]:
        """What their makers have left `ahead`, of runs of which a write is in flight or unknown,
        its lease is over at `now`, in seconds on the breaker's clock, and no record is open.
        """

    def resolve_write(
        self,
        key: str,
        status: WriteStatus,
        *,
        operator: str,
        result_id: str | None = None,
    ) -> WriteEntry | None:
        """Somebody knows for certain what became of the unsettled write `key`. Returns the entry as
        it is then; None, and changes nothing, where there is none or it was certain already.
        """

    def end(
        self, run_id: str, token_version: int, became: Became, *, operator: str, detail: str = ""
    ) -> InterruptionRecord | None:
        """End an interruption without resuming that run: its record is over (`ended_as`), and its
        token version is raised by one. Returns the record as it is then; None, and changes nothing,
        when the version is another one by now or the interruption is over. Atomic.
        """

    def happenings(self, run_id: str) -> tuple[Happening, ...]:
        """What became of the interruptions of a run, oldest first."""

    def counts(self) -> tuple[Count, ...]:
        """How many interruptions there were, by reason, workflow, tool and what became of them: the
        next thing that ended each.
        """

    def close(self) -> None:
        """Let go of files and connections."""
