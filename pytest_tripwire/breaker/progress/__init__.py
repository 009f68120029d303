"""Whether a run gets anywhere, by what its calls return: one rule in each file.

State that is new is progress; state that merely changed is not. Plan text and more tokens are
never evidence, and ignoring them is deliberate.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.cycle import cycle
from pytest_tripwire.breaker.progress.empty_results import (
    empty_results,
    empty_spellings,
    empty_streak,
)
from pytest_tripwire.breaker.progress.error_streak import error_streak, tool_errors
from pytest_tripwire.breaker.progress.handoff import handoff
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.paraphrase import paraphrase
from pytest_tripwire.breaker.progress.repeated_error import repeated_error
from pytest_tripwire.breaker.progress.repeated_intent import repeated_intent
from pytest_tripwire.breaker.progress.same_error import same_error
from pytest_tripwire.breaker.progress.stagnant_read import stagnant_part, stagnant_read
from pytest_tripwire.breaker.progress.step import Step, step_of
from pytest_tripwire.breaker.progress.trip import Trip

#: Three fruitless steps are executed; the fourth is not.
NO_PROGRESS_LIMIT = 3

Rule = Callable[[History, Step, int], Trip | None]
LooseRule = Callable[[History, Step, int], Armed | None]

#: Rules that are certain: the run is stopped when one has seen enough.
RULES: tuple[Rule, ...] = (
    repeated_intent,
    empty_results,
    stagnant_read,
    handoff,
    same_error,
    error_streak,
    repeated_error,
    cycle,
)

#: Rules that rest on what nobody has declared: one more of the same is stopped.
LOOSE_RULES: tuple[LooseRule, ...] = (
    paraphrase,
    stagnant_part,
    empty_spellings,
    empty_streak,
    tool_errors,
)


def is_quiet(history: History) -> bool:
    """Whether no rule can have anything to say, so that none needs to be asked."""
    return history.quiet


def judge_step(history: History, step: Step, limit: int) -> Trip | None:
    """The rule that stops the run after `step`, else the one that is a step short of it. What
    loose rules wait for is left with `history`.
    """
    if is_quiet(history):
        return None
    trips = [trip for rule in RULES if (trip := rule(history, step, limit)) is not None]
    stopping = next((trip for trip in trips if trip.stops), None)
    if stopping is not None:
        return stopping
    loose = [armed for rule in LOOSE_RULES if (armed := rule(history, step, limit)) is not None]
    for each in loose:
        if each.trip.stops:
            history.arm(each)
    return next((trip for trip in [*trips, *(each.trip for each in loose)] if trip.nudges), None)


__all__ = [
    "LOOSE_RULES",
    "NO_PROGRESS_LIMIT",
    "RULES",
    "Armed",
    "History",
    "LooseRule",
    "Rule",
    "Step",
    "Trip",
    "judge_step",
    "step_of",
]
