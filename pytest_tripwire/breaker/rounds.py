"""Which calls belong together, whether or not anybody tells of model requests.

Calls of one message share a turn, and what they have in common must count once. A loop that never
tells of its requests has no turns; there, calls that began before any came back are siblings.
"""

from __future__ import annotations


class Rounds:
    """Owner of the number that siblings share. It only grows.

    Args:
        number: the last number that an earlier part of the run has used.
    """

    __slots__ = ("_came_back", "_number", "_turn")

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._turn = 0
        # Whatever is proposed first is no sibling of what an earlier part of the run has done.
        self._came_back = True

    @property
    def number(self) -> int:
        """The number of the latest round; 0 before the first."""
        return self._number

    def of_call(self, turn: int) -> int:
        """The round of a call that is proposed now, in model request `turn`; 0 where nobody tells
        of them. It is `turn` itself as long as every request is told.
        """
        if turn != self._turn or (self._came_back and turn == 0):
            self._number = max(self._number + 1, turn)
        self._turn = turn
        self._came_back = False
        return self._number

    def came_back(self) -> None:
        """A call of the run has been settled: what is proposed next could have learned from it."""
        self._came_back = True
