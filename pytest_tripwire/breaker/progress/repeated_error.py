"""One class of error comes back and back, whatever was asked and whatever succeeded in between.

Only where a team asks for it: three files that are not there, with good work in between, are three
answers.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Reason


def repeated_error(history: History, step: Step, _limit: int) -> Trip | None:
    """Stops when one class of error was met so often within the last few turns."""
    if history.returned is None or step.ok:
        return None
    return Trip(
        reason=Reason.REPEATED_ERROR,
        count=1 if history.returned else 0,
        limit=1,
        evidence=tuple(history.errors.seqs) or (step.seq,),
        what=f"{step.tool} failed in a way that keeps coming back",
    )
