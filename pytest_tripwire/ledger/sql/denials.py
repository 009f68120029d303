"""What tools have denied runs, in a database."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from pytest_tripwire.ledger.sql.bodies import body_of, handle, value_of
from pytest_tripwire.ledger.sql.compiled import Upsert
from pytest_tripwire.ledger.sql.session import Session
from pytest_tripwire.ledger.sql.tables import DENIALS
from pytest_tripwire.timeline import DenialNote

_OF_RUN = (
    sa.select(DENIALS.c.body)
    .where(DENIALS.c.run_id == sa.bindparam("run_id"))
    .order_by(DENIALS.c.position)
)
_FORGET = sa.delete(DENIALS).where(DENIALS.c.run_id == sa.bindparam("run_id"))
_KEEP = Upsert(DENIALS, ("run_id", "kind", "resource"), ("body",))


def note(session: Session, run_id: str, notes: Sequence[DenialNote]) -> None:
    """Keep what tools have denied a run; see `Ledger.note_denials`. The transaction has the run
    for itself.
    """
    run = handle(run_id)
    if not notes:
        session.run(_FORGET, {"run_id": run})
    for each in notes:
        session.run(
            _KEEP,
            {
                "run_id": run,
                "kind": handle(each.kind),
                "resource": handle(each.resource),
                "body": body_of(each),
            },
        )


def of_run(session: Session, run_id: str) -> tuple[DenialNote, ...]:
    """What tools have denied a run, oldest first."""
    rows = session.rows(_OF_RUN, {"run_id": handle(run_id)})
    return tuple(value_of(DenialNote, body) for (body,) in rows)
