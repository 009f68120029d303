"""Which events should not be there."""

from __future__ import annotations

from pytest_tripwire.oracle.cell import Cell
from pytest_tripwire.timeline import Dispatch, Effect, Mutation

OFFENCE = "should not have happened"
LATE = "after the interruption"


def flaws(cell: Cell) -> dict[int, str]:
    """What is wrong with events, by their numbers. What was let through before the interruption may
    land after it, and is none.
    """
    found = {event.seq: LATE for event in cell.events if _is_late(cell, event)}
    seqs = {event.seq for event in cell.events} - {0}
    return found | {each.seq: OFFENCE for each in cell.broken if each.seq in seqs}


def _is_late(cell: Cell, event: object) -> bool:
    if not cell.stop_seq:
        return False
    match event:
        case Dispatch(effect=Effect.WRITE, seq=seq):
            return seq > cell.stop_seq
        case Mutation(dispatch=seq):
            return seq > cell.stop_seq
    return False
