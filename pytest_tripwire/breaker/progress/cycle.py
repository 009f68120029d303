"""A small set of intents alternates, with or without noise, and nothing new comes of it.

What others read is no part of an agent's circle, as none can know what another was told. What they
write and hand over is: agents that undo what another has done go round in a circle together.
"""

from __future__ import annotations

import itertools

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Reason

#: More intents than this in a streak are no cycle but a search.
MOST_INTENTS = 8
SHORTEST_STREAK = 6


def cycle(history: History, step: Step, _limit: int) -> Trip | None:
    """Counts the steps since anything new, against the number of intents among them: a streak of
    `max(6, 2p - 1)` steps over p intents has come round at least once.
    """
    if history.waits or history.streak < SHORTEST_STREAK:
        return None
    both = itertools.islice(
        zip(reversed(history.recent), reversed(history.asked), strict=True), history.streak
    )
    own = [each for each in both if step.may_know(each[0])]
    intents = {asked for _, asked in own}
    others = min(history.streak, len(history.recent)) - len(own)
    count = history.streak - others
    if len(intents) > MOST_INTENTS or count < SHORTEST_STREAK:
        return None
    return Trip(
        reason=Reason.INTENT_CYCLE,
        count=count,
        limit=max(SHORTEST_STREAK, 2 * len(intents) - 1),
        evidence=tuple(sorted(each.seq for each, _ in own)),
        what=f"{len(intents)} calls alternate and nothing new comes of them",
    )
