"""The face of a store in a database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from pytest_tripwire.breaker.port import Conflict, Right
from pytest_tripwire.ledger.changes import claimed, counted, ended, rights
from pytest_tripwire.ledger.owners import is_gone, owner_name
from pytest_tripwire.ledger.sql import approvals, denials, happenings, records, writes
from pytest_tripwire.ledger.sql.engine import Backend, resource_lock, run_lock
from pytest_tripwire.ledger.sql.happenings import News
from pytest_tripwire.ledger.sql.schema import bring_up
from pytest_tripwire.ledger.sql.session import Session
from pytest_tripwire.ledger.sql.sessions import Sessions
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


class SqlStore:
    """Writes, records and what became of them, in a database that others may use at the same time.
    May be shared by threads, and taken along through a fork. Every method may raise a StoreError.

    Args:
        backend: the database.
        owner: names this process in entries; by default host, process and a random word.
        now: seconds since the epoch of Unix, for what an operator is shown.
        lock_timeout_s: how long to wait for others.
    """

    durable = True

    def __init__(
        self,
        backend: Backend,
        *,
        owner: str | None = None,
        now: Callable[[], float] = time.time,
        lock_timeout_s: float,
    ) -> None:
        self._sessions = Sessions(backend, lock_timeout_s)
        self._where = backend.failures.where
        #: What was left out of `records`, `lost`, `happenings` and `counts`.
        self.unread = Unread()
        self._owner = owner
        self._own = (0, "")
        self._now = now
        bring_up(self._sessions, lock_timeout_s)
        backend.opened()

    def __repr__(self) -> str:
        return f"<SqlStore {self._where}>"

    @property
    def owner(self) -> str:
        """Names this process in entries; a fork of it is another one."""
        if self._owner is not None:
            return self._owner
        if self._own[0] != os.getpid():
            self._own = (os.getpid(), owner_name())
        return self._own[1]

    def is_gone(self, owner: str) -> bool:
        """Whether the process of this name has certainly ended; see `Ledger.is_gone`."""
        return is_gone(owner)

    # -- writes

    def begin(
        self,
        entry: WriteEntry,
        conflict: Conflict,
        *,
        ahead: InterruptionRecord | None = None,
        under: Sequence[Right] = (),
    ) -> WriteEntry | None:
        """Store `entry` unless `conflict` names another one; see `Ledger.begin`. Who takes a run up
        has its record alone, and no other lock beside it.
        """
        held = rights(ahead, under)
        locks = [resource_lock(entry.resource)]
        locks += [run_lock(each.run_id, shared=True) for each in held]
        return self._sessions.write(
            lambda session: writes.begin(session, entry, conflict, ahead, held), locks
        )

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first."""
        return self._sessions.read(lambda session: writes.of_resource(session, resource))

    def bearing(self, resource: str, work: str) -> tuple[WriteEntry, ...]:
        """Those of them that decide about the next one; see `Ledger.bearing`."""
        return self._sessions.read(lambda session: writes.bearing(session, resource, work))

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        """Every write of one run, oldest first."""
        return self._sessions.read(lambda session: writes.of_run(session, run_id))

    def entry(self, key: str) -> WriteEntry | None:
        """One write."""
        return self._sessions.read(lambda session: writes.of_key(session, key))

    def settle(
        self,
        key: str,
        status: WriteStatus,
        *,
        result_id: str | None = None,
        reconciled: bool = False,
        came_back: bool = False,
    ) -> None:
        """Say what is now certain of a write; see `Ledger.settle`.

        It does not wait for the disk: what is lost with the power of the machine reads as unknown,
        which is what it was.
        """

        def work(session: Session) -> None:
            entry = writes.to_change(session, key)
            if entry is None:
                raise KeyError(key)
            writes.change(
                session,
                entry,
                status,
                result_id=result_id,
                reconciled=reconciled,
                came_back=came_back,
            )

        self._sessions.write(work, durable=False)

    # -- records

    def store_record(self, record: InterruptionRecord) -> None:
        """Keep an interruption record; see `Ledger.store_record`."""
        self._sessions.write(
            lambda session: records.keep(session, record, self._now), [run_lock(record.run_id)]
        )

    def forget_ahead(self, run_id: str) -> None:
        """A run has ended well; see `Ledger.forget_ahead`."""
        self._sessions.write(lambda session: writes.forget_ahead(session, run_id), durable=False)

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """The record of a run, if it was interrupted."""
        return self._sessions.read(lambda session: records.of_run(session, run_id))

    def records(self, wanted: Wanted) -> tuple[InterruptionRecord, ...]:
        """Records; see `Store.records`."""
        return self._sessions.read(
            lambda session: records.wanted_ones(session, wanted, self.unread)
        )

    def lost(self, now: float) -> tuple[InterruptionRecord, ...]:
        """Those that died with a write in flight; see `Store.lost`."""
        return self._sessions.read(lambda session: records.lost(session, now, self.unread))

    def claim(
        self,
        run_id: str,
        token_version: int,
        *,
        operator: str = "",
        action: SafeAction = SafeAction.RESUME,
    ) -> InterruptionRecord | None:
        """Take an interrupted run up; see `Ledger.claim`."""

        def changed(record: InterruptionRecord) -> tuple[InterruptionRecord, News]:
            after, became = claimed(record, action)
            return after, News(became, operator)

        both = self._changed(run_id, token_version, changed)
        return None if both is None else both[0]

    # -- what an operator does

    def resolve_write(
        self, key: str, status: WriteStatus, *, operator: str, result_id: str | None = None
    ) -> WriteEntry | None:
        """Somebody knows what became of a write; see `Store.resolve_write`."""
        known = self.entry(key)
        if known is None:
            return None

        def work(session: Session) -> WriteEntry | None:
            entry = writes.to_change(session, key)
            if entry is None or entry.is_certain:
                return None
            after = writes.change(
                session, entry, status, result_id=result_id, reconciled=True, came_back=True
            )
            news = News(Became.RESOLVED, operator, key)
            records.resolved(session, entry.run_id, news, self._now)
            return after

        return self._sessions.write(work, [run_lock(known.run_id)])

    def end(
        self, run_id: str, token_version: int, became: Became, *, operator: str, detail: str = ""
    ) -> InterruptionRecord | None:
        """End an interruption; see `Store.end`."""

        def changed(record: InterruptionRecord) -> tuple[InterruptionRecord, News]:
            return ended(record, became), News(became, operator, detail)

        both = self._changed(run_id, token_version, changed)
        return None if both is None else both[1]

    def _changed(
        self,
        run_id: str,
        token_version: int,
        changed: Callable[[InterruptionRecord], tuple[InterruptionRecord, News]],
    ) -> tuple[InterruptionRecord, InterruptionRecord] | None:
        return self._sessions.write(
            lambda session: records.change(session, run_id, token_version, changed, self._now),
            [run_lock(run_id)],
        )

    def happenings(self, run_id: str) -> tuple[Happening, ...]:
        """What became of the interruptions of a run, oldest first."""
        return self._sessions.read(lambda session: happenings.told(session, run_id, self.unread))

    def counts(self) -> tuple[Count, ...]:
        """How many interruptions there were; see `Store.counts`."""
        return counted(
            self._sessions.read(lambda session: happenings.all_told(session, self.unread))
        )

    # -- denials and approvals

    def note_denials(self, run_id: str, notes: Sequence[DenialNote]) -> None:
        """Keep what tools have denied a run; see `Ledger.note_denials`."""
        self._sessions.write(
            lambda session: denials.note(session, run_id, notes), [run_lock(run_id)]
        )

    def denials_of(self, run_id: str) -> tuple[DenialNote, ...]:
        """What tools have denied a run, oldest first."""
        return self._sessions.read(lambda session: denials.of_run(session, run_id))

    def keep_approval(self, note: ApprovalNote) -> None:
        """Keep a call that waits for a yes; see `Ledger.keep_approval`."""
        self._sessions.write(lambda session: approvals.keep(session, note))

    def approvals_of(self, run_id: str) -> tuple[ApprovalNote, ...]:
        """The calls of a run that wait for a yes, or have got it, oldest first."""
        return self._sessions.read(lambda session: approvals.of_run(session, run_id))

    def use_approval(self, run_id: str, call_id: str, times: int = 1) -> bool:
        """Take attempts from a granted call; see `Ledger.use_approval`."""
        return self._sessions.write(lambda session: approvals.use(session, run_id, call_id, times))

    def close(self) -> None:
        """Let go of every connection. A later call opens its own again."""
        self._sessions.close()
