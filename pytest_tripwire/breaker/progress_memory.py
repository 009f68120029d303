"""What a run's history carries to another process: counts and fingerprints.

Words are not carried, nor single steps, nor what was read of each thing: a rule that rests on those
begins anew, as a count without what it counts would stop a run too early.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeAlias

import msgspec

from pytest_tripwire.breaker.progress import History
from pytest_tripwire.breaker.progress.occurrences import Occurrences
from pytest_tripwire.breaker.progress.streaks import Streak, Streaks

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Repeated(msgspec.Struct, frozen=True, array_like=True):
    """What has happened before: fingerprints that tell it, and how much was new since each time."""

    kind: tuple[str, ...]
    since: tuple[Count, ...]


class ProgressMemory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A history as it can be carried.

    Args:
        repeats: intents with their outcomes, as they still count.
        stubborn: failures of one intent with one error.
        errors: turns in a row that brought errors only.
        tool_errors: the same by tool.
        empties: the same for empty results, by tool.
        seen: what is nothing new any more.
        said: what was handed off before.
    """

    repeats: tuple[Repeated, ...] = ()
    stubborn: tuple[Repeated, ...] = ()
    errors: Count = 0
    tool_errors: dict[str, Count] = msgspec.field(default_factory=dict)
    empties: dict[str, Count] = msgspec.field(default_factory=dict)
    seen: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def remembered(history: History) -> ProgressMemory:
    """What there is to carry."""
    return ProgressMemory(
        repeats=_repeated(history.repeats, history.new),
        stubborn=_repeated(history.stubborn, 0),
        errors=history.errors.turns,
        tool_errors=history.tool_errors.turns(),
        empties=history.empties.turns(),
        seen=history.seen,
        said=history.said,
    )


def restore(history: History, memory: ProgressMemory) -> None:
    """Put back into a new history what was carried. The events are those of another timeline, so
    nothing rests on them but the count.
    """
    history.new = max((max(each.since, default=0) for each in memory.repeats), default=0)
    _put(history.repeats, memory.repeats, new=history.new)
    _put(history.stubborn, memory.stubborn, new=0)
    history.errors.turns = memory.errors
    _count(history.tool_errors, memory.tool_errors)
    _count(history.empties, memory.empties)
    history.recall(memory.seen, memory.said)


def _repeated(occurrences: Occurrences, new: int) -> tuple[Repeated, ...]:
    return tuple(
        Repeated(kind, tuple(new - at for at in times))
        for kind, times in occurrences.kinds()
        if isinstance(kind, tuple) and all(isinstance(part, str) for part in kind)
    )


def _put(occurrences: Occurrences, memory: Iterable[Repeated], *, new: int) -> None:
    for each in memory:
        for since in each.since:
            occurrences.add(each.kind, seq=0, new=new - since)


def _count(streaks: Streaks, memory: dict[str, int]) -> None:
    for tool, turns in memory.items():
        streak: Streak = streaks.of(tool)
        streak.turns = turns
