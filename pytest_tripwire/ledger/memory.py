"""The store in memory: for tests, and for runs whose process is their whole life."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

import msgspec

from pytest_tripwire.breaker.epoch import work_of
from pytest_tripwire.breaker.leases import is_lease_over
from pytest_tripwire.breaker.port import Conflict, Right, SupersededError
from pytest_tripwire.ledger.changes import (
    bearing,
    claimed,
    counted,
    ended,
    happened,
    is_wanted,
    rights,
    settled,
    used,
)
from pytest_tripwire.ledger.store import Wanted
from pytest_tripwire.ledger.unread import Unread
from pytest_tripwire.timeline import (
    ApprovalNote,
    Became,
    Count,
    DenialNote,
    Happening,
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)


class MemoryLedger:
    """Keeps entries in the order in which they were begun. It forgets nothing while it lives.

    Args:
        now: seconds since the epoch of Unix, for what an operator is shown.
    """

    durable = False
    owner = ""

    def is_gone(self, owner: str) -> bool:  # noqa: ARG002 - the protocol's
        """There are no other processes."""
        return False

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        #: What could not be read: nothing, as it is kept as it was given.
        self.unread = Unread()
        self._now = now
        self._lock = threading.Lock()
        self._entries: dict[str, WriteEntry] = {}
        self._by_resource: dict[str, list[str]] = {}
        self._by_run: dict[str, list[str]] = {}
        self._records: dict[str, InterruptionRecord] = {}
        self._ahead: dict[str, InterruptionRecord] = {}
        self._happenings: dict[str, list[Happening]] = {}
        self._denials: dict[str, dict[tuple[str, str], DenialNote]] = {}
        self._approvals: dict[str, dict[str, ApprovalNote]] = {}

    # -- writes

    def begin(
        self,
        entry: WriteEntry,
        conflict: Conflict,
        *,
        ahead: InterruptionRecord | None = None,
        under: Sequence[Right] = (),
    ) -> WriteEntry | None:
        """Store `entry` unless `conflict` names another one; see `Ledger.begin`."""
        with self._lock:
            self._check(rights(ahead, under))
            known = self._listed(self._by_resource, entry.resource)
            other = conflict(bearing(known, work_of(entry.epoch)))
            if other is None:
                stored = msgspec.structs.replace(entry, seq=len(self._entries) + 1)
                self._entries[entry.key] = stored
                self._by_resource.setdefault(entry.resource, []).append(entry.key)
                self._by_run.setdefault(entry.run_id, []).append(entry.key)
                if ahead is not None:
                    self._ahead[ahead.run_id] = ahead
            return other

    def _check(self, held: Sequence[Right]) -> None:
        for right in held:
            record = self._records.get(right.run_id)
            if record is not None and record.token_version > right.token_version:
                raise SupersededError(right.run_id)

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first."""
        with self._lock:
            return self._listed(self._by_resource, resource)

    def bearing(self, resource: str, work: str) -> tuple[WriteEntry, ...]:
        """Those of them that decide about the next one; see `Ledger.bearing`."""
        return bearing(self.of_resource(resource), work)

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        """Every write of one run, oldest first."""
        with self._lock:
            return self._listed(self._by_run, run_id)

    def entry(self, key: str) -> WriteEntry | None:
        """One write."""
        with self._lock:
            return self._entries.get(key)

    def settle(
        self,
        key: str,
        status: WriteStatus,
        *,
        result_id: str | None = None,
        reconciled: bool = False,
        came_back: bool = False,
    ) -> None:
        """Say what is now certain of a write; see `Ledger.settle`."""
        with self._lock:
            self._entries[key] = settled(
                self._entries[key],
                status,
                result_id=result_id,
                reconciled=reconciled,
                came_back=came_back,
            )

    def _listed(self, index: dict[str, list[str]], name: str) -> tuple[WriteEntry, ...]:
        return tuple(self._entries[key] for key in index.get(name, ()))

    # -- records

    def store_record(self, record: InterruptionRecord) -> None:
        """Keep an interruption record; see `Ledger.store_record`."""
        with self._lock:
            before = self._records.get(record.run_id)
            if before is None or before.token_version <= record.token_version:
                self._keep(record, happened(record, before, self._told(record.run_id)))

    def forget_ahead(self, run_id: str) -> None:
        """A run has ended well; see `Ledger.forget_ahead`."""
        with self._lock:
            self._ahead.pop(run_id, None)

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """The record of a run, if it was interrupted."""
        with self._lock:
            return self._records.get(run_id)

    def records(self, wanted: Wanted) -> tuple[InterruptionRecord, ...]:
        """Records; see `Store.records`."""
        with self._lock:
            latest = sorted(self._records.values(), key=lambda each: each.at, reverse=True)
            return tuple(each for each in latest if is_wanted(each, wanted))[: wanted.most]

    def lost(self, now: float) -> tuple[InterruptionRecord, ...]:
        """Those that died over a write; see `Store.lost`."""
        with self._lock:
            return tuple(each for run_id, each in self._ahead.items() if self._is_lost(run_id, now))

    def _is_lost(self, run_id: str, now: float) -> bool:
        record = self._records.get(run_id)
        if record is not None and record.ended_as is None:
            return False
        return any(
            not each.is_certain and is_lease_over(each, now=now)
            for each in self._listed(self._by_run, run_id)
        )

    def claim(
        self,
        run_id: str,
        token_version: int,
        *,
        operator: str = "",
        action: SafeAction = SafeAction.RESUME,
    ) -> InterruptionRecord | None:
        """Take an interrupted run up; see `Ledger.claim`."""
        with self._lock:
            record = self._records.get(run_id)
            if record is None or record.token_version != token_version or record.ended_as:
                return None
            after, became = claimed(record, action)
            self._keep(after, became, operator=operator)
            return record

    # -- what an operator does

    def resolve_write(
        self, key: str, status: WriteStatus, *, operator: str, result_id: str | None = None
    ) -> WriteEntry | None:
        """Somebody knows what became of a write; see `Store.resolve_write`."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None or entry.is_certain:
                return None
            self._entries[key] = settled(
                entry, status, result_id=result_id, reconciled=True, came_back=True
            )
            record = self._records.get(entry.run_id)
            if record is not None:
                self._tell(record, Became.RESOLVED, operator=operator, detail=key)
            return self._entries[key]

    def end(
        self, run_id: str, token_version: int, became: Became, *, operator: str, detail: str = ""
    ) -> InterruptionRecord | None:
        """End an interruption; see `Store.end`."""
        with self._lock:
            record = self._records.get(run_id)
            if record is None or record.token_version != token_version or record.ended_as:
                return None
            self._keep(ended(record, became), became, operator=operator, detail=detail)
            return self._records[run_id]

    def happenings(self, run_id: str) -> tuple[Happening, ...]:
        """What became of the interruptions of a run, oldest first."""
        with self._lock:
            return tuple(self._told(run_id))

    def counts(self) -> tuple[Count, ...]:
        """How many interruptions there were; see `Store.counts`."""
        with self._lock:
            return counted(each for of_run in self._happenings.values() for each in of_run)

    def _keep(
        self,
        record: InterruptionRecord,
        became: Became | None,
        *,
        operator: str = "",
        detail: str = "",
    ) -> None:
        self._records[record.run_id] = record
        if became is not None:
            self._tell(record, became, operator=operator, detail=detail)

    def _tell(
        self, record: InterruptionRecord, became: Became, *, operator: str, detail: str
    ) -> None:
        number = sum(map(len, self._happenings.values())) + 1
        self._happenings.setdefault(record.run_id, []).append(
            Happening(
                run_id=record.run_id,
                became=became,
                at=self._now(),
                reason=record.reason,
                workflow=record.workflow,
                tool=record.last_tool,
                operator=operator,
                token_version=record.token_version,
                detail=detail,
                seq=number,
            )
        )

    def _told(self, run_id: str) -> Sequence[Happening]:
        return self._happenings.get(run_id, ())

    # -- denials and approvals

    def note_denials(self, run_id: str, notes: Sequence[DenialNote]) -> None:
        """Keep what tools have denied a run; see `Ledger.note_denials`."""
        with self._lock:
            if not notes:
                self._denials.pop(run_id, None)
            for note in notes:
                self._denials.setdefault(run_id, {})[(note.kind, note.resource)] = note

    def denials_of(self, run_id: str) -> tuple[DenialNote, ...]:
        """What tools have denied a run, oldest first."""
        with self._lock:
            return tuple(self._denials.get(run_id, {}).values())

    def keep_approval(self, note: ApprovalNote) -> None:
        """Keep a call that waits for a yes; see `Ledger.keep_approval`."""
        with self._lock:
            self._approvals.setdefault(note.run_id, {})[note.call_id] = note

    def approvals_of(self, run_id: str) -> tuple[ApprovalNote, ...]:
        """The calls of a run that wait for a yes, or have got it, oldest first."""
        with self._lock:
            return tuple(self._approvals.get(run_id, {}).values())

    def use_approval(self, run_id: str, call_id: str, times: int = 1) -> bool:
        """Take attempts from a granted call; see `Ledger.use_approval`."""
        with self._lock:
            notes = self._approvals.get(run_id, {})
            after = used(notes.get(call_id), times)
            if after is not None:
                notes[call_id] = after
            return after is not None

    def close(self) -> None:
        """Nothing is held."""
