"""Interruption records in a database."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
import sqlalchemy as sa

from pytest_tripwire.ledger.changes import happened, is_wanted
from pytest_tripwire.ledger.errors import UnreadableError
from pytest_tripwire.ledger.sql.bodies import body_of, handle, value_of
from pytest_tripwire.ledger.sql.compiled import Statement, Upsert, parameters
from pytest_tripwire.ledger.sql.happenings import Clock, News, tell, told
from pytest_tripwire.ledger.sql.session import Row, Session
from pytest_tripwire.ledger.sql.tables import AHEAD, RECORDS, UNSETTLED, WRITES
from pytest_tripwire.ledger.store import Wanted
from pytest_tripwire.ledger.unread import Unread
from pytest_tripwire.timeline import InterruptionRecord

_RECORDS = sa.select(RECORDS.c.token_version, RECORDS.c.ended_as, RECORDS.c.body)
_OF_RUN = _RECORDS.where(RECORDS.c.run_id == sa.bindparam("run_id"))
_LATEST = sa.select(
    RECORDS.c.run_id, RECORDS.c.token_version, RECORDS.c.ended_as, RECORDS.c.body
).order_by(RECORDS.c.at.desc(), RECORDS.c.position)
_KEEP = Upsert(
    RECORDS,
    ("run_id",),
    ("tenant", "workflow", "reason", "at", "token_version", "ended_as", "body"),
)
_CHANGE = (
    sa.update(RECORDS)
    .where(RECORDS.c.run_id == sa.bindparam("which"))
    .values(parameters("token_version", "ended_as"))
)
_OPEN_RECORD = sa.exists().where(RECORDS.c.run_id == AHEAD.c.run_id, RECORDS.c.ended_as.is_(None))
_OF_DEAD = sa.select(WRITES.c.run_id).where(UNSETTLED, WRITES.c.lease_until <= sa.bindparam("now"))
_LOST = (
    sa.select(AHEAD.c.run_id, AHEAD.c.body)
    .where(AHEAD.c.run_id.in_(_OF_DEAD), ~_OPEN_RECORD)
    .order_by(AHEAD.c.position)
)


def of_run(session: Session, run_id: str) -> InterruptionRecord | None:
    """The record of a run, if it was interrupted."""
    row = session.row(_OF_RUN, {"run_id": handle(run_id)})
    return None if row is None else _record(row)


def keep(session: Session, record: InterruptionRecord, now: Clock) -> None:
    """Keep a record; see `Ledger.store_record`. The transaction has the run for itself."""
    before = of_run(session, record.run_id)
    if before is not None and before.token_version > record.token_version:
        return
    became = happened(record, before, told(session, record.run_id))
    session.run(_KEEP, _row_of(record))
    tell(session, record, News(became), now)


def change(
    session: Session,
    run_id: str,
    token_version: int,
    changed: Callable[[InterruptionRecord], tuple[InterruptionRecord, News]],
    now: Clock,
) -> tuple[InterruptionRecord, InterruptionRecord] | None:
    """Change the record of a run whose interruption is not over, if it has still that version.
    Returns it as it was and as it is; None where it was not changed. The transaction has the run
    for itself.
    """
    before = of_run(session, run_id)
    if before is None or before.token_version != token_version or before.ended_as:
        return None
    after, news = changed(before)
    session.run(
        _CHANGE,
        {
            "which": handle(run_id),
            "token_version": after.token_version,
            "ended_as": after.ended_as,
        },
    )
    tell(session, after, news, now)
    return before, after


def resolved(session: Session, run_id: str, news: News, now: Clock) -> None:
    """Tell that somebody knows what became of a write of the run, if that was interrupted."""
    record = of_run(session, run_id)
    if record is not None:
        tell(session, record, news, now)


def wanted_ones(session: Session, wanted: Wanted, unread: Unread) -> tuple[InterruptionRecord, ...]:
    """Records, the latest interruption first. What cannot be read is left out."""
    statement, values = _searched(wanted)
    found = _readable(session.rows(statement, values), _record, unread)
    return tuple(itertools.islice((each for each in found if is_wanted(each, wanted)), wanted.most))


def lost(session: Session, now: float, unread: Unread) -> tuple[InterruptionRecord, ...]:
    """What runs that died over a write have left; see `Store.lost`."""
    rows = session.rows(_LOST, {"now": now})
    return tuple(_readable(rows, lambda row: value_of(InterruptionRecord, row[0]), unread))


def _readable(
    rows: Iterable[Row], read: Callable[[Row], InterruptionRecord], unread: Unread
) -> Iterator[InterruptionRecord]:
    """Records of rows that begin with the id of their run."""
    for run_id, *rest in rows:
        try:
            yield read(tuple(rest))
        except UnreadableError as error:
            unread.leave_out(f"the record of run {run_id}", error)


def _searched(wanted: Wanted) -> tuple[Statement, dict[str, str]]:
    """A search that leaves out most of what is not wanted. `is_wanted` has the last word."""
    asked = {"tenant": wanted.tenant, "workflow": wanted.workflow, "reason": wanted.reason}
    values = {name: handle(value) for name, value in asked.items() if value is not None}
    return _search(tuple(values), wanted.open_only), values


@functools.cache
def _search(names: tuple[str, ...], open_only: bool) -> Statement:  # noqa: FBT001 -- a key of the cache
    statement = _LATEST.where(*(RECORDS.c[name] == sa.bindparam(name) for name in names))
    return statement.where(RECORDS.c.ended_as.is_(None)) if open_only else statement


def _row_of(record: InterruptionRecord) -> dict[str, Any]:
    return {
        "run_id": handle(record.run_id),
        "tenant": handle(record.tenant),
        "workflow": handle(record.workflow),
        "reason": record.reason.value,
        "at": record.at,
        "token_version": record.token_version,
        "ended_as": record.ended_as,
        "body": body_of(record),
    }


def _record(row: Row) -> InterruptionRecord:
    token_version, ended_as, body = row
    return msgspec.structs.replace(
        value_of(InterruptionRecord, body), token_version=token_version, ended_as=ended_as
    )
