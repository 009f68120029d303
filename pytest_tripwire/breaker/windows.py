"""A rate window that can be carried to another process."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.breaker.rate import RateWindow


class KeptWindow(RateWindow):
    """The same window, and what it carries.

    Args:
        limit: calls within any minute.
        ago: seconds since each of those that an earlier part of the run has made, longest first.
        now: seconds on the run's clock.
    """

    __slots__ = ()

    def __init__(self, limit: int, ago: Sequence[float] = (), now: float = 0.0) -> None:
        super().__init__(limit)
        for seconds in ago[-limit:] if limit else ():
            self._stamps.append(now - seconds)

    def ago(self, now: float) -> tuple[float, ...]:
        """Seconds since each call that still counts, longest first."""
        return tuple(now - stamp for stamp in self._stamps if now - stamp < self._period)
