"""The ledger as a run sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from pytest_tripwire.breaker.leases import as_read
from pytest_tripwire.breaker.port import Conflict, Ledger, Right
from pytest_tripwire.breaker.under_way import Begun
from pytest_tripwire.timeline import (
    DenialNote,
    InterruptionRecord,
    WriteEntry,
    WriteStatus,
)


class RunLedger:
    """Where everything is kept, as one run sees it: what any of its family has written is its own,
    and a write whose maker answers for it no longer is unknown. It has what a run asks for while it
    goes on; what comes before and after is asked of the ledger itself.

    Args:
        ledger: where everything is kept.
        run_id: the one that looks.
        kin: ids of the whole family; it may grow.
        now: seconds on the breaker's clock.
        begun: what the family has begun.
    """

    __slots__ = ("_begun", "_kin", "_ledger", "_now", "_run_id")

    def __init__(
        self,
        ledger: Ledger,
        run_id: str,
        kin: list[str],
        now: Callable[[], float],
        begun: Begun | None = None,
    ) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._kin = kin
        self._now = now
        self._begun = begun or Begun(ledger)

    def of(self, run_id: str) -> RunLedger:
        """The same as another one of them sees it."""
        return RunLedger(self._ledger, run_id, self._kin, self._now, self._begun)

    def adopt(self, run_id: str) -> None:
        """A child has begun."""
        self._kin.append(run_id)

    def disown(self, run_id: str) -> None:
        """A child that has written nothing has ended."""
        self._kin[:] = [each for each in self._kin if each != run_id]

    @property
    def kin(self) -> tuple[str, ...]:
        """Ids of the whole family, as far as they have written anything or have not ended."""
        return tuple(self._kin)

    @property
    def durable(self) -> bool:
        """See `Ledger.durable`."""
        return self._ledger.durable

    @property
    def owner(self) -> str:
        """See `Ledger.owner`."""
        return self._ledger.owner

    def begin(
        self,
        entry: WriteEntry,
        conflict: Conflict,
        *,
        ahead: InterruptionRecord | None = None,
        under: Sequence[Right] = (),
    ) -> WriteEntry | None:
        """See `Ledger.begin`."""
        # Before anybody can read of it: it is never without somebody who answers for it.
        self._begun.begin(entry.key, entry.run_id)
        rights: dict[str, Any] = {"under": under} if under else {}
        other = self._ledger.begin(
            entry, lambda known: conflict(self._own(known)), ahead=ahead, **rights
        )
        if other is not None:
            self._begun.over(entry.key)
        return other

    def has_begun(self, entry: WriteEntry) -> bool:
        """Whether the family has begun a write, and the ledger does not know yet what became of it:
        another one may act under the same id, who took the run up.
        """
        return entry.key in self._begun

    def answers_for(self, entry: WriteEntry) -> bool:
        """Whether a run of this process that goes on has a write under way; a fork has it not."""
        owner = self.owner
        return bool(owner) and entry.owner == owner and entry.key in self._begun.known.begun

    def let_go(self, run_id: str) -> None:
        """A run has ended: what it has begun is answered for until its lease is over."""
        self._begun.let_go(run_id)

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first; the family's as if they were its own."""
        return self._own(self._ledger.of_resource(resource))

    def bearing(self, resource: str, work: str) -> tuple[WriteEntry, ...]:
        """See `Ledger.bearing`; the family's as if they were its own."""
        return self._own(self._ledger.bearing(resource, work))

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        """Every write of a run and of those that work for it, under their own ids, oldest first."""
        below = [each for each in self._kin if each == run_id or each.startswith(f"{run_id}/")]
        entries = [entry for each in below or [run_id] for entry in self._ledger.of_run(each)]
        return self._read(sorted(entries, key=lambda entry: entry.seq))

    def settle(
        self,
        key: str,
        status: WriteStatus,
        *,
        result_id: str | None = None,
        reconciled: bool = False,
        came_back: bool = False,
    ) -> None:
        """See `Ledger.settle`. What the ledger cannot be told is in doubt, and not under way."""
        doubts = self._begun.known.doubts
        came_back = came_back or doubts.get(key, False)
        try:
            self._ledger.settle(
                key, status, result_id=result_id, reconciled=reconciled, came_back=came_back
            )
        except Exception:
            if status is WriteStatus.UNKNOWN or (came_back and status is WriteStatus.CONFIRMED):
                doubts[key] = came_back
            raise
        doubts.pop(key, None)
        if came_back or status is not WriteStatus.UNKNOWN:
            self._begun.over(key)

    def tell_doubts(self) -> None:
        """Tell the ledger of the family's writes of which it could not be told before."""
        for key in self._begun.untold():
            self.settle(key, WriteStatus.UNKNOWN)

    def store_record(self, record: InterruptionRecord) -> None:
        """See `Ledger.store_record`."""
        self._ledger.store_record(record)

    def forget_ahead(self, run_id: str) -> None:
        """See `Ledger.forget_ahead`."""
        self._ledger.forget_ahead(run_id)

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """See `Ledger.record_of`."""
        return self._ledger.record_of(run_id)

    def note_denials(self, run_id: str, notes: Sequence[DenialNote]) -> None:
        """See `Ledger.note_denials`."""
        self._ledger.note_denials(run_id, notes)

    def _own(self, known: Sequence[WriteEntry]) -> tuple[WriteEntry, ...]:
        return tuple(
            msgspec.structs.replace(entry, run_id=self._run_id)
            if entry.run_id != self._run_id and entry.run_id in self._kin
            else entry
            for entry in self._read(known)
        )

    def _doubted(self, entry: WriteEntry) -> WriteEntry:
        came_back = self._begun.known.doubts.get(entry.key)
        if came_back is None or entry.status is not WriteStatus.IN_FLIGHT:
            return entry
        return msgspec.structs.replace(entry, status=WriteStatus.UNKNOWN, came_back=came_back)

    def _read(self, known: Sequence[WriteEntry]) -> tuple[WriteEntry, ...]:
        if self._begun.known.doubts:
            known = [self._doubted(entry) for entry in known]
        if not self.durable:
            return tuple(known)
        now, gone = self._now(), self._ledger.is_gone
        return tuple(
            as_read(entry, now=now, mine=self.answers_for(entry), gone=gone) for entry in known
        )
