"""A record is read again at the version that is known already.

An own write to it, like any other progress, starts the count anew: re-reading after one's own edit
is good work.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason


def stagnant_read(history: History, step: Step, limit: int) -> Trip | None:
    """Counts reads of one version."""
    if step.poll or step.empty or not step.version or step.effect is not Effect.READ:
        return None
    return Trip(
        reason=Reason.STAGNANT_READ,
        count=history.count(step),
        limit=limit,
        evidence=history.evidence(step),
        what=f"{step.tool} showed version {step.version} again",
    )
