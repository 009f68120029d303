"""A clock for runs that pass no time of their own."""

from __future__ import annotations

from typing import Any


class Clock:
    """Seconds that pass when a test says so."""

    seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)

    async def within(self, _seconds: float, work: Any) -> Any:
        return await work
