"""A record is read again at the version that is known already.

An own write to it, like any other progress, starts the count anew: re-reading after one's own edit
is good work. Reading on is new; reading a part again that was read already is not.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason

#: One more than for the whole: a second look at a part may have a reason of its own.
PARTS_LIMIT = 4


def stagnant_read(history: History, step: Step, limit: int) -> Trip | None:
    """Counts reads of one version."""
    if history.waits or step.empty or not step.version or step.effect is not Effect.READ:
        return None
    evidence, limit = history.evidence(step, limit)
    return Trip(
        reason=Reason.STAGNANT_READ,
        count=len(evidence),
        limit=limit,
        evidence=evidence,
        what=f"{step.tool} showed version {step.version} again",
    )


def stagnant_part(history: History, step: Step, _limit: int) -> Armed | None:
    """Counts reads of parts that were read at this version already."""
    part = history.part
    if part is None or not history.covered or not step.ok:
        return None
    seqs = history.repeats.seqs(("part", part.thing, step.version), new=history.new)
    trip = Trip(
        reason=Reason.STAGNANT_READ,
        count=len(seqs),
        limit=PARTS_LIMIT,
        evidence=seqs,
        what=f"{step.tool} read again what it had read of version {step.version}",
    )
    return Armed(trip=trip, tool=step.tool, part=part, speaker=step.speaker)
