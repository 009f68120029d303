"""A small set of intents alternates, with or without noise, and nothing new comes of it."""

from __future__ import annotations

import itertools

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Reason

#: More intents than this in a streak are no cycle but a search.
MOST_INTENTS = 8
SHORTEST_STREAK = 6


def cycle(history: History, _step: Step, _limit: int) -> Trip | None:
    """Counts the steps since anything new, against the number of intents among them: a streak of
    `max(6, 2p - 1)` steps over p intents has come round at least once.
    """
    if history.waits or history.streak < SHORTEST_STREAK:
        return None
    length = min(history.streak, len(history.recent))
    steps = list(itertools.islice(reversed(history.recent), length))
    intents = {each.intent for each in steps}
    if len(intents) > MOST_INTENTS:
        return None
    return Trip(
        reason=Reason.INTENT_CYCLE,
        count=history.streak,
        limit=max(SHORTEST_STREAK, 2 * len(intents) - 1),
        evidence=tuple(sorted(each.seq for each in steps)),
        what=f"{len(intents)} calls alternate and nothing new comes of them",
    )
