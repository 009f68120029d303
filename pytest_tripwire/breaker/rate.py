"""How many calls may go within a minute, counted over a window that slides."""

from __future__ import annotations

import math
from collections import deque

from pytest_tripwire.breaker.wait import seconds_until

PERIOD_S = 60.0


class RateWindow:
    """Owner of the moments at which calls went, used under the controller's lock.

    No stretch of `period_s` seconds ever holds more than `limit` of them: a window that slides
    cannot be cheated at the turn of a minute, as one that is reset can. At most `limit` are kept.

    Args:
        limit: calls within any period; 0 lets nothing through.
        period_s: seconds.
    """

    __slots__ = ("_limit", "_period", "_stamps")

    def __init__(self, limit: int, period_s: float = PERIOD_S) -> None:
        if type(limit) is not int or limit < 0:
            raise ValueError(f"RateWindow(limit={limit!r}): a whole number, 0 or more")
        if not (math.isfinite(period_s) and period_s > 0):
            raise ValueError(f"RateWindow(period_s={period_s!r}): seconds, more than 0")
        self._limit = limit
        self._period = period_s
        self._stamps: deque[float] = deque()

    def retry_after(self, now: float) -> float:
        """Seconds until a call may go: 0 when it may go now, infinite when none ever may."""
        if self._limit == 0:
            return math.inf
        if len(self._stamps) < self._limit:
            return 0.0
        return seconds_until(self._stamps[0] + self._period, now)

    def add(self, now: float) -> float:
        """A call goes. Returns the moment to `withdraw` it by. Raises ValueError when none may go:
        ask `retry_after` first.
        """
        if self.retry_after(now) > 0:
            raise ValueError(f"add({now!r}): {self._limit} calls went within {self._period:g} s")
        # Threads read the clock before they take the lock, so `now` may be a moment late.
        stamp = max(now, self._stamps[-1]) if self._stamps else now
        if len(self._stamps) == self._limit:
            self._stamps.popleft()
        self._stamps.append(stamp)
        return stamp

    def withdraw(self, stamp: float) -> None:
        """Take back a call that did not go after all. One whose moment is long past is forgotten
        already.
        """
        if stamp in self._stamps:
            self._stamps.remove(stamp)
