"""The same question got the same answer, wherever in the run it stood.

Counted since the last real progress and not only in a row, as a loop with other calls in between
is a loop (this rule carried most of the weight of all that were tried on the field corpus). Where
the calls in between repeat themselves as well, the whole is a cycle and is called one.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.cycle import MOST_INTENTS
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason


def repeated_intent(history: History, step: Step, limit: int) -> Trip | None:
    """Counts reads and failures with one intent and one outcome; polls are bounded by time."""
    if history.waits or step.empty or (step.version and step.ok):
        return None
    if step.effect is Effect.HANDOFF or (step.effect is Effect.WRITE and step.ok):
        return None
    turns = others_between(history, step)
    evidence, limit = history.evidence(step, limit)
    return Trip(
        reason=Reason.INTENT_CYCLE if turns else Reason.REPEATED_INTENT_SAME_OUTCOME,
        count=len(evidence),
        limit=limit,
        evidence=evidence,
        what=f"{step.tool} was asked the same and gave the same answer"
        + (f", in turns with {turns} other calls that did so too" if turns else ""),
    )


def others_between(history: History, step: Step) -> int:
    """How many other intents lie between an agent's repeats, if each of them is a repeat too."""
    steps = [each for each in history.recent if step.may_know(each)]
    places = [at for at, each in enumerate(steps) if each.asked == step.asked]
    if not places:
        return 0  # a write that is a new act each time goes round in no circle
    between = [each for each in steps[places[0] : places[-1]] if each.asked != step.asked]
    kinds = {each.kind for each in between}
    repeated = all(history.repeats.count(kind, new=history.new) > 1 for kind in kinds)
    return len(kinds) if repeated and len(kinds) < MOST_INTENTS else 0
