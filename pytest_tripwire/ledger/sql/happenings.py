"""What became of interruptions, in a database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import msgspec
import sqlalchemy as sa

from pytest_tripwire.ledger.errors import UnreadableError
from pytest_tripwire.ledger.sql.bodies import body_of, handle, value_of
from pytest_tripwire.ledger.sql.compiled import parameters
from pytest_tripwire.ledger.sql.session import Row, Session
from pytest_tripwire.ledger.sql.tables import HAPPENINGS
from pytest_tripwire.ledger.unread import Unread
from pytest_tripwire.timeline import Became, Happening, InterruptionRecord

_ALL = sa.select(HAPPENINGS.c.seq, HAPPENINGS.c.run_id, HAPPENINGS.c.body).order_by(
    HAPPENINGS.c.seq
)
_OF_RUN = _ALL.where(HAPPENINGS.c.run_id == sa.bindparam("run_id"))
_INSERT = sa.insert(HAPPENINGS).values(parameters("run_id", "body")).inline()


#: Seconds since the epoch of Unix.
Clock: TypeAlias = Callable[[], float]


class News(NamedTuple):
    """What has happened, and who has done it.

    Args:
        became: None if nothing has that anybody would count.
    """

    became: Became | None
    operator: str = ""
    detail: str = ""


def told(session: Session, run_id: str, unread: Unread | None = None) -> tuple[Happening, ...]:
    """What became of the interruptions of a run, oldest first. A line that cannot be read is left
    out: it keeps nobody from adding another.
    """
    return _read(session.rows(_OF_RUN, {"run_id": handle(run_id)}), unread or Unread())


def all_told(session: Session, unread: Unread) -> tuple[Happening, ...]:
    """What became of all interruptions, oldest first."""
    return _read(session.rows(_ALL, {}), unread)


def tell(session: Session, record: InterruptionRecord, news: News, now: Clock) -> None:
    """Add a line about the run of `record`. The transaction has its record for itself."""
    if news.became is None:
        return
    happening = Happening(
        run_id=record.run_id,
        became=news.became,
        at=now(),
        reason=record.reason,
        workflow=record.workflow,
        tool=record.last_tool,
        operator=news.operator,
        token_version=record.token_version,
        detail=news.detail,
    )
    session.run(_INSERT, {"run_id": handle(record.run_id), "body": body_of(happening)})


def _read(rows: Sequence[Row], unread: Unread) -> tuple[Happening, ...]:
    found: list[Happening] = []
    for seq, run_id, body in rows:
        try:
            found.append(msgspec.structs.replace(value_of(Happening, body), seq=seq))
        except UnreadableError as error:
            unread.leave_out(f"line {seq} of what became of run {run_id}", error)
    return tuple(found)
