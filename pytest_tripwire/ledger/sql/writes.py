"""Writes in a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from pytest_tripwire.breaker.epoch import work_of
from pytest_tripwire.breaker.port import Conflict, Right, SupersededError
from pytest_tripwire.ledger.changes import settled
from pytest_tripwire.ledger.sql.bodies import body_of, handle, quoted, unquoted, value_of
from pytest_tripwire.ledger.sql.compiled import Upsert, parameters
from pytest_tripwire.ledger.sql.session import Row, Session
from pytest_tripwire.ledger.sql.tables import AHEAD, RECORDS, UNSETTLED, WRITES
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry, WriteStatus

_ENTRIES = sa.select(
    WRITES.c.seq,
    WRITES.c.status,
    WRITES.c.result_id,
    WRITES.c.reconciled,
    WRITES.c.came_back,
    WRITES.c.body,
)
_OF_RESOURCE = _ENTRIES.where(WRITES.c.resource == sa.bindparam("resource")).order_by(WRITES.c.seq)
_OURS = WRITES.alias()
_FIRST_OF_WORK = (
    sa.select(sa.func.min(_OURS.c.seq))
    .where(
        _OURS.c.resource == sa.bindparam("resource"),
        _OURS.c.work == sa.bindparam("work"),
    )
    .scalar_subquery()
)
_OF_THIS = _ENTRIES.where(WRITES.c.resource == sa.bindparam("resource"))
_BEARING = sa.union(
    _OF_THIS.where(UNSETTLED), _OF_THIS.where(WRITES.c.seq >= _FIRST_OF_WORK)
).order_by(sa.text("seq"))
_OF_RUN = _ENTRIES.where(WRITES.c.run_id == sa.bindparam("run_id")).order_by(WRITES.c.seq)
_OF_KEY = _ENTRIES.where(WRITES.c.key == sa.bindparam("key"))
_OF_KEY_TO_CHANGE = _OF_KEY.with_for_update()
_INSERT = (
    sa.insert(WRITES)
    .values(
        parameters(
            "key",
            "run_id",
            "resource",
            "work",
            "status",
            "lease_until",
            "result_id",
            "reconciled",
            "came_back",
            "body",
        )
    )
    .inline()
)
_CHANGE = (
    sa.update(WRITES)
    .where(WRITES.c.seq == sa.bindparam("which"))
    .values(parameters("status", "result_id", "reconciled", "came_back"))
)
_TOKEN = sa.select(RECORDS.c.token_version).where(RECORDS.c.run_id == sa.bindparam("run_id"))
_FORGET_AHEAD = sa.delete(AHEAD).where(AHEAD.c.run_id == sa.bindparam("run_id"))
_KEEP_AHEAD = Upsert(AHEAD, ("run_id",), ("body",))


def begin(
    session: Session,
    entry: WriteEntry,
    conflict: Conflict,
    ahead: InterruptionRecord | None,
    held: Sequence[Right],
) -> WriteEntry | None:
    """Store `entry` unless `conflict` names another one; see `Ledger.begin`. The transaction has
    the resource for itself, and the records of the runs whose rights are `held` stay as they are.
    """
    for right in held:
        _check(session, right)
    other = conflict(bearing(session, entry.resource, work_of(entry.epoch)))
    if other is None:
        session.run(_INSERT, _row_of(entry))
        if ahead is not None:
            session.run(_KEEP_AHEAD, {"run_id": handle(ahead.run_id), "body": body_of(ahead)})
    return other


def forget_ahead(session: Session, run_id: str) -> None:
    """Take out what a run has left ahead."""
    session.run(_FORGET_AHEAD, {"run_id": handle(run_id)})


def _check(session: Session, right: Right) -> None:
    row = session.row(_TOKEN, {"run_id": handle(right.run_id)})
    if row is not None and row[0] > right.token_version:
        raise SupersededError(right.run_id)


def of_resource(session: Session, resource: str) -> tuple[WriteEntry, ...]:
    """Every write of one resource, oldest first."""
    return tuple(map(_entry, session.rows(_OF_RESOURCE, {"resource": handle(resource)})))


def bearing(session: Session, resource: str, work: str) -> tuple[WriteEntry, ...]:
    """Those of them that decide about the next one; see `Ledger.bearing`."""
    values = {"resource": handle(resource), "work": handle(work)}
    return tuple(map(_entry, session.rows(_BEARING, values)))


def of_run(session: Session, run_id: str) -> tuple[WriteEntry, ...]:
    """Every write of one run, oldest first."""
    return tuple(map(_entry, session.rows(_OF_RUN, {"run_id": handle(run_id)})))


def of_key(session: Session, key: str) -> WriteEntry | None:
    """One write."""
    row = session.row(_OF_KEY, {"key": handle(key)})
    return None if row is None else _entry(row)


def to_change(session: Session, key: str) -> WriteEntry | None:
    """One write, which nobody else changes until the transaction ends."""
    row = session.row(_OF_KEY_TO_CHANGE, {"key": handle(key)})
    return None if row is None else _entry(row)


def change(
    session: Session,
    entry: WriteEntry,
    status: WriteStatus,
    *,
    result_id: str | None,
    reconciled: bool,
    came_back: bool,
) -> WriteEntry:
    """Say what is certain of an entry. Returns it as it is then."""
    after = settled(entry, status, result_id=result_id, reconciled=reconciled, came_back=came_back)
    session.run(_CHANGE, {"which": after.seq, **_changing(after)})
    return after


def _row_of(entry: WriteEntry) -> dict[str, Any]:
    return {
        "key": handle(entry.key),
        "run_id": handle(entry.run_id),
        "resource": handle(entry.resource),
        "work": handle(work_of(entry.epoch)),
        "lease_until": entry.lease_until,
        "body": body_of(entry),
        **_changing(entry),
    }


def _changing(entry: WriteEntry) -> dict[str, Any]:
    return {
        "status": entry.status.value,
        "result_id": quoted(entry.result_id),
        "reconciled": int(entry.reconciled),
        "came_back": int(entry.came_back),
    }


def _entry(row: Row) -> WriteEntry:
    seq, status, result_id, reconciled, came_back, body = row
    return msgspec.structs.replace(
        value_of(WriteEntry, body),
        seq=seq,
        status=WriteStatus(status),
        result_id=unquoted(result_id),
        reconciled=bool(reconciled),
        came_back=bool(came_back),
    )
