"""Time that passes only when something waits for it."""

from __future__ import annotations

import threading


class VirtualClock:
    """Seconds since the run began. Sleeping moves the clock and returns at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0.0

    def now(self) -> float:
        """Seconds since the run began."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass. Raises ValueError for a negative number."""
        if seconds < 0:
            raise ValueError(f"sleep({seconds}): seconds are 0 or more")
        with self._lock:
            self._now += seconds

    async def asleep(self, seconds: float) -> None:
        """The same, for async code."""
        self.sleep(seconds)
