"""Agents hand a task round and nothing about it changes.

Steps are counted over the whole ring, whatever its size: each way from one agent to another that is
gone again counts. A field filled, a record changed or something new read starts it anew; and after
a new write or a new fact, every way that is gone again is a new one: a hub comes back to its
specialists with what it has got.
"""

from __future__ import annotations

from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason

#: Hand-offs word for word the same say less than those in new words.
EXACT_LIMIT = 2
WORDING_LIMIT = 3
#: Where nobody has declared which arguments are words.
UNDECLARED_LIMIT = 4


def handoff(history: History, step: Step, _limit: int) -> Trip | None:
    """Counts hand-offs that go a way again."""
    if step.effect is not Effect.HANDOFF or not history.handoffs:
        return None
    return Trip(
        reason=Reason.HANDOFF_WITHOUT_PROGRESS,
        count=len(history.handoffs),
        limit=_limit_of(history, step),
        evidence=tuple(each.seq for each in history.handoffs),
        what=f"{step.tool} handed the task round and nothing about it changed",
    )


def _limit_of(history: History, step: Step) -> int:
    if history.echoes >= len(history.handoffs):
        return EXACT_LIMIT
    declared = bool(step.spec.wording or step.spec.required_fields)
    # What a model says to itself, such as its reason, is words whoever has declared what.
    talk = history.loose is not None and history.loose.words is None
    return WORDING_LIMIT if declared or talk else UNDECLARED_LIMIT
