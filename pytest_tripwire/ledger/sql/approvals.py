"""Calls that wait for a yes, or have got it, in a database."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from pytest_tripwire.ledger.changes import used
from pytest_tripwire.ledger.sql.bodies import body_of, handle, value_of
from pytest_tripwire.ledger.sql.compiled import Upsert, parameters
from pytest_tripwire.ledger.sql.session import Row, Session
from pytest_tripwire.ledger.sql.tables import APPROVALS
from pytest_tripwire.timeline import ApprovalNote

_NOTES = sa.select(APPROVALS.c.attempts_left, APPROVALS.c.body).where(
    APPROVALS.c.run_id == sa.bindparam("run_id")
)
_OF_RUN = _NOTES.order_by(APPROVALS.c.position)
_TO_CHANGE = _NOTES.where(APPROVALS.c.call_id == sa.bindparam("call_id")).with_for_update()
_KEEP = Upsert(APPROVALS, ("run_id", "call_id"), ("attempts_left", "body"))
_CHANGE = (
    sa.update(APPROVALS)
    .where(
        APPROVALS.c.run_id == sa.bindparam("which_run"),
        APPROVALS.c.call_id == sa.bindparam("which_call"),
    )
    .values(parameters("attempts_left"))
)


def keep(session: Session, note: ApprovalNote) -> None:
    """Keep a call; see `Ledger.keep_approval`."""
    session.run(
        _KEEP,
        {
            "run_id": handle(note.run_id),
            "call_id": handle(note.call_id),
            "attempts_left": note.left,
            "body": body_of(note),
        },
    )


def of_run(session: Session, run_id: str) -> tuple[ApprovalNote, ...]:
    """The calls of a run that wait for a yes, or have got it, oldest first."""
    return tuple(map(_note, session.rows(_OF_RUN, {"run_id": handle(run_id)})))


def use(session: Session, run_id: str, call_id: str, times: int) -> bool:
    """Take attempts from a granted call; see `Ledger.use_approval`."""
    run, call = handle(run_id), handle(call_id)
    row = session.row(_TO_CHANGE, {"run_id": run, "call_id": call})
    after = used(None if row is None else _note(row), times)
    if after is not None:
        session.run(_CHANGE, {"which_run": run, "which_call": call, "attempts_left": after.left})
    return after is not None


def _note(row: Row) -> ApprovalNote:
    left, body = row
    return msgspec.structs.replace(value_of(ApprovalNote, body), left=left)
