"""One thing is looked for in other and other words, and it is not there.

Empty results for different things are no loop: looking a customer up by mail, phone and name and
then creating it is good work. Declared wording is what tells the two apart.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Reason


def empty_results(history: History, step: Step, limit: int) -> Trip | None:
    """Counts empty results of one intent."""
    if step.poll or not step.empty:
        return None
    return Trip(
        reason=Reason.EMPTY_RESULTS,
        count=history.count(step),
        limit=limit,
        evidence=history.evidence(step),
        what=f"{step.tool} found nothing, in whatever words it was asked",
    )
