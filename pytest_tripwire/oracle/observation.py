"""What the oracle is given of a run: the world's events, and claims to be checked against them."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from pytest_tripwire.models.diagnosis import Diagnosis
from pytest_tripwire.timeline import BudgetLine, InterruptionRecord, Reason, WorldEvent


class Ended(StrEnum):
    """How the agent itself came to its end."""

    ANSWERED = "answered"
    INTERRUPTED = "interrupted"
    CRASHED = "crashed"


class StopClaim(msgspec.Struct, frozen=True, kw_only=True):
    """That the run was stopped, as the protection claims. `seq` is its place on the timeline."""

    seq: int
    reason: Reason


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """One run.

    Args:
        events: what the world and the model server saw; nothing of the breaker's.
        ended: how the agent ended.
        error: class of the exception it ended with, if it did.
        surfaced: how a stop came out of the agent.
        stop: the protection's claim of a stop.
        record: the stored interruption record.
        budgets: the budgets as they stand at the end.
        overran: which ceiling of the harness the run went through, empty for none.
        guarded: whether a breaker of ours was between the agent and its tools.
        outside: whether the agent is another process, which finds all in its environment.
        hint: what else may have kept the agent from the case.
        diagnosis: what is wrong with how the agent uses its model; it is handed on, not judged by.
        finished: the terminal state that the breaker's run came to, in words; empty without one.
    """

    events: tuple[WorldEvent, ...]
    ended: Ended
    error: str = ""
    surfaced: str = ""
    stop: StopClaim | None = None
    record: InterruptionRecord | None = None
    budgets: tuple[BudgetLine, ...] = ()
    overran: str = ""
    guarded: bool = True
    finished: str = ""
    outside: bool = False
    hint: str = ""
    diagnosis: tuple[Diagnosis, ...] = ()
