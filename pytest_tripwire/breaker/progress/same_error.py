"""The same call fails in the same way, whatever was written in between.

A new note or a new edit each round looks like progress and is none as long as the check after it
says the very same. The patience is longer than for reads, as trying again after an edit is good
work; an error that changes is another one.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.breaker.progress.waiting import is_poll
from pytest_tripwire.timeline import Reason, Status

LIMIT = 5


def same_error(history: History, step: Step, _limit: int) -> Trip | None:
    """Counts failures of one intent with one error; only its success forgives them."""
    if step.ok or step.status is Status.DENIED or is_poll(step):
        return None
    seqs = history.stubborn.seqs((step.intent, step.outcome), new=0)
    return Trip(
        reason=Reason.ERROR_STREAK,
        count=len(seqs),
        limit=LIMIT,
        evidence=seqs,
        what=f"{step.tool} failed in the same way, whatever was done in between",
    )
