"""Things that go wrong turn after turn. What was proposed together counts once: five parallel
reads that all fail are one failure.
"""

from __future__ import annotations

from collections import deque

from pytest_tripwire.breaker.progress.bounded import Bounded

#: Events that a streak keeps as evidence.
_MOST = 16
_TOOLS = 256


class Streak:
    """Turns in a row in which something went wrong and nothing went right."""

    __slots__ = ("_counted", "_right", "seqs", "turns")

    def __init__(self) -> None:
        self.turns = 0
        self.seqs: deque[int] = deque(maxlen=_MOST)
        # Calls of two turns may come back interleaved.
        self._counted: deque[int] = deque(maxlen=_MOST)
        self._right: int | None = None

    def wrong(self, turn: int, seq: int) -> None:
        """Something went wrong in `turn`, unless something has gone right in it too."""
        if turn == self._right:
            return
        self.seqs.append(seq)
        if turn not in self._counted:
            self._counted.append(turn)
            self.turns += 1

    def right(self, turn: int) -> None:
        """Something went right: the streak is over."""
        self._right = turn
        self.clear()

    def finished(self, siblings: int) -> int:
        """Turns that are over: the last one is not while `siblings` of it are under way, as one of
        them may succeed. The turns before it count all the same, so that a sibling that comes back
        last in each turn does not put a stop off for ever.
        """
        return max(0, self.turns - (siblings > 0))

    def clear(self) -> None:
        """Forget the streak."""
        self.turns = 0
        self.seqs.clear()
        self._counted.clear()


class Streaks:
    """A streak for each tool."""

    def __init__(self) -> None:
        self._of: Bounded[str, Streak] = Bounded(_TOOLS)

    def of(self, tool: str) -> Streak:
        """The streak of `tool`."""
        return self._of.of(tool, Streak)

    def turns(self) -> dict[str, int]:
        """How long each streak is that there is."""
        return {tool: streak.turns for tool, streak in self._of.items().items() if streak.turns}

    def clear(self) -> None:
        """Forget all."""
        self._of.clear()
