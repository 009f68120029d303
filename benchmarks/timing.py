"""Times that can be compared: subjects take turns, round by round, and only ratios within a round
count. A machine that slows down for a while slows all of them down.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeAlias

#: What is timed, made ready anew for every round. It may tell itself how many seconds count, where
#: there is something around it that does not.
Prepared: TypeAlias = Callable[[], float | None]
Subject: TypeAlias = Callable[[], Prepared]


class Times:
    """Seconds that each subject took, round by round.

    Args:
        seconds: by name of the subject, one for each round.
    """

    def __init__(self, seconds: Mapping[str, list[float]]) -> None:
        self._seconds = seconds

    def ratio(self, subject: str, base: str) -> float:
        """How many times as long as `base` a subject took: the median over all rounds."""
        pairs = zip(self._seconds[subject], self._seconds[base], strict=True)
        ratios: list[float] = [one / other for one, other in pairs]
        return statistics.median(ratios)

    def ratio_beyond(self, subject: str, less: str, base: str) -> float:
        """The same for what a subject does more than the one that is `less`."""
        columns = [self._seconds[name] for name in (subject, less, base)]
        ratios: list[float] = [
            (one - less) / other for one, less, other in zip(*columns, strict=True)
        ]
        return statistics.median(ratios)


def in_turns(
    subjects: Mapping[str, Subject],
    *,
    rounds: int,
    clock: Callable[[], float] = time.process_time,
    collect: Callable[[], object] = gc.collect,
) -> Times:
    """Time each subject once in every round, each round beginning with another one.

    Args:
        subjects: by name. A subject makes ready what is timed.
        rounds: how many; one more is run first, and not counted.
        clock: seconds. By default those of this process, which others on the machine do not add to.
        collect: clears away what earlier subjects have left.
    """
    names = list(subjects)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        first = number % len(names)
        for name in [*names[first:], *names[:first]]:
            prepared = subjects[name]()
            with _without_collector(collect):
                began = clock()
                counted = prepared()
                took = clock() - began
            if number:
                seconds[name].append(took if counted is None else counted)
    return Times(seconds)


@contextmanager
def _without_collector(collect: Callable[[], object]) -> Iterator[None]:
    collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def again(call: Callable[[], object], times: int) -> Subject:
    """A subject that makes one call a number of times."""

    def prepared() -> None:
        for _ in range(times):
            call()

    return lambda: prepared
