"""One thing after another goes wrong.

Counted by turn, so that siblings that fail together count once, and a turn counts once it is over:
a sibling that is still under way may succeed. Any success ends the streak of the run; that of a
tool goes on while other tools succeed, as a counter that every harmless read sets back never gets
anywhere.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.history import MOST_ERRORS, History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.breaker.progress.waiting import is_poll
from pytest_tripwire.timeline import Reason, Status


def error_streak(history: History, step: Step, _limit: int) -> Trip | None:
    """Counts turns in a row that bring errors only."""
    turns = history.errors.finished(history.siblings)
    if step.ok or step.status is Status.DENIED or is_poll(step) or not turns:
        return None
    return Trip(
        reason=Reason.ERROR_STREAK,
        count=turns,
        limit=history.most_errors,
        evidence=tuple(history.errors.seqs),
        what="One call after another failed",
    )


def tool_errors(history: History, step: Step, _limit: int) -> Armed | None:
    """The same for one tool, while it says that the calls themselves are wrong."""
    streak = history.tool_errors.of(step.tool)
    turns = streak.finished(history.siblings)
    if step.status is not Status.DEFINITE or not turns:
        return None
    trip = Trip(
        reason=Reason.ERROR_STREAK,
        count=turns,
        limit=MOST_ERRORS,
        evidence=tuple(streak.seqs),
        what=f"{step.tool} failed whatever it was asked",
    )
    return Armed(trip=trip, tool=step.tool)
