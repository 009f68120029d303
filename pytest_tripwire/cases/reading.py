"""Reading a trace: what was sent, what was told, what changed."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.timeline import Delivery, Dispatch, Effect, Mutation, WorldEvent


def sent(events: Sequence[WorldEvent], role: str | None = None) -> list[Dispatch]:
    """Every dispatch, or those of one role's tool."""
    calls = [each for each in events if isinstance(each, Dispatch)]
    return [each for each in calls if role is None or each.role == role]


def told(events: Sequence[WorldEvent], role: str | None, *words: str) -> int:
    """How often the caller was told one of `words` by a role's tool, or by any."""
    numbers = {each.seq for each in sent(events, role)}
    answers = [each for each in events if isinstance(each, Delivery)]
    return sum(each.dispatch in numbers and each.told in words for each in answers)


def mutations(events: Sequence[WorldEvent]) -> int:
    """How often the business was changed by the agent."""
    return sum(isinstance(each, Mutation) for each in events)


def is_write(event: WorldEvent) -> bool:
    """Whether a write was sent."""
    return isinstance(event, Dispatch) and event.effect is Effect.WRITE


def nothing_wrong(_events: Sequence[WorldEvent]) -> WorldEvent | None:
    """The violation of good work: there is none."""
    return None


def always(_events: Sequence[WorldEvent]) -> bool:
    """For a case whose trap is the work itself."""
    return True
