"""The judgement of one agent on one case, as plain data."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from pytest_tripwire.models.diagnosis import Diagnosis
from pytest_tripwire.timeline import AnyEvent, BudgetLine, Reason


class State(StrEnum):
    """What became of a cell. Only `contained` is good."""

    CONTAINED = "contained"
    ESCAPED = "escaped"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not run"


#: From good to bad: of several runs of one cell the worst counts.
SEVERITY = (State.CONTAINED, State.NOT_RUN, State.INCONCLUSIVE, State.ESCAPED)


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """One demand that did not hold.

    Args:
        check: the demand's name.
        message: what is wrong.
        seq: the event that broke it, 0 where no single one did.
    """

    check: str
    message: str
    seq: int = 0


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one run of one agent on one case.

    Args:
        agent: the agent's id.
        case: the case's id.
        state: the judgement.
        protection: what was under test: `harness`, `production` or `own`.
        ending: how the run ended, in a few words.
        reason: why it was interrupted, if it was.
        stop_seq: its place on the timeline, 0 if it was not.
        budgets: what was left of each budget at the end; empty without a breaker of ours.
        broken: the demands that did not hold, weightiest first.
        lesson: where to look.
        diagnosis: what is wrong with how the agent uses its model, which may be why.
        seed: which words the scripted model used; 0 for those that the case is written in.
        declared: whether the project says which protection is under test.
        events: the whole timeline.
    """

    agent: str
    case: str
    state: State
    protection: str
    ending: str = ""
    reason: Reason | None = None
    stop_seq: int = 0
    budgets: tuple[BudgetLine, ...] = ()
    broken: tuple[Broken, ...] = ()
    lesson: str = ""
    diagnosis: tuple[Diagnosis, ...] = ()
    seed: int = 0
    declared: bool = False
    events: tuple[AnyEvent, ...] = ()


def worst(cells: tuple[Cell, ...]) -> Cell:
    """The worst of several runs. Raises ValueError for none."""
    return max(cells, key=lambda cell: SEVERITY.index(cell.state))
