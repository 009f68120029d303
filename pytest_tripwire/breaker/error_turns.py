"""Errors in a row, counted by turn: siblings that fail together fail once."""

from __future__ import annotations


class ErrorTurns:
    """Counts turns in which calls failed and none succeeded, since the last success.

    A batch in which some succeed is no error turn, in whatever order its calls come back. A failure
    of an older turn than the last one counted says nothing new: they failed side by side.

    Args:
        count: turns that an earlier part of the run has counted.
    """

    __slots__ = ("_failed", "_good", "count")

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self._failed = 0
        self._good = 0

    @property
    def turn(self) -> int:
        """The last turn that was counted; 0 if none was."""
        return self._failed

    def failed(self, turn: int) -> bool:
        """A call of `turn` failed. Returns whether that is counted."""
        if turn <= max(self._failed, self._good):
            return False
        self._failed = turn
        self.count += 1
        return True

    def succeeded(self, turn: int) -> None:
        """A call of `turn` succeeded."""
        self._good = max(self._good, turn)
        self.count = 0
