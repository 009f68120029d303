"""The same question got the same answer, wherever in the run it stood.

Counted since the last real progress and not only in a row, as a loop with other calls in between
is a loop (this rule carried most of the weight of all that were tried on the field corpus).
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason


def repeated_intent(history: History, step: Step, limit: int) -> Trip | None:
    """Counts reads and failures with one intent and one outcome; polls are bounded by time."""
    if step.poll or step.empty or step.version:
        return None
    if step.effect is Effect.HANDOFF or (step.effect is Effect.WRITE and step.ok):
        return None
    return Trip(
        reason=Reason.REPEATED_INTENT_SAME_OUTCOME,
        count=history.count(step),
        limit=limit,
        evidence=history.evidence(step),
        what=f"{step.tool} was asked the same and gave the same answer",
    )
