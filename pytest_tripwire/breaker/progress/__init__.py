"""Whether a run gets anywhere, by what its calls return: one rule in each file.

State that is new is progress; state that merely changed is not. Plan text and more tokens are
never evidence, and ignoring them is deliberate.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_tripwire.breaker.progress.cycle import cycle
from pytest_tripwire.breaker.progress.empty_results import empty_results
from pytest_tripwire.breaker.progress.handoff import handoff
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.repeated_intent import repeated_intent
from pytest_tripwire.breaker.progress.stagnant_read import stagnant_read
from pytest_tripwire.breaker.progress.step import Step, step_of
from pytest_tripwire.breaker.progress.trip import Trip

#: Three fruitless steps are executed; the fourth is not.
NO_PROGRESS_LIMIT = 3

Rule = Callable[[History, Step, int], Trip | None]

RULES: tuple[Rule, ...] = (repeated_intent, empty_results, stagnant_read, handoff, cycle)


def judge_step(history: History, step: Step, limit: int) -> Trip | None:
    """The rule that stops the run after `step`, else the one that is a step short of it."""
    trips = [trip for rule in RULES if (trip := rule(history, step, limit)) is not None]
    stopping = next((trip for trip in trips if trip.stops), None)
    return stopping or next((trip for trip in trips if trip.nudges), None)


__all__ = ["NO_PROGRESS_LIMIT", "RULES", "History", "Rule", "Step", "Trip", "judge_step", "step_of"]
