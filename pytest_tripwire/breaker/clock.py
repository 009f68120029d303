"""The clock of a run in production."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from pytest_tripwire.timeline.loops import trio_module

#: Seconds by which the wall may be ahead before it is followed: small corrections charge nobody.
_FOLLOWED_S = 1.0


class SystemClock:
    """Seconds that never go back, under asyncio and under trio.

    They count from the epoch of Unix, so that what one process writes down another can compare: as
    well as the clocks of their machines agree. Where the machine has slept, or its clock is set
    forward, they follow; where it is set back, they go on as before.

    Args:
        wall: seconds since the epoch of Unix, as the machine says.
        ticks: seconds that never go back.
    """

    def __init__(
        self,
        *,
        wall: Callable[[], float] = time.time,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall, self._ticks = wall, ticks
        self._began = wall() - ticks()

    def now(self) -> float:
        """Seconds since the epoch of Unix."""
        began = self._wall() - self._ticks()
        if began > self._began + _FOLLOWED_S:
            self._began = began
        return self._began + self._ticks()

    def sleep(self, seconds: float) -> None:
        """Block this thread."""
        if seconds > 0:
            time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        """Yield to other tasks for `seconds`."""
        trio = trio_module()
        await (trio.sleep(seconds) if trio else asyncio.sleep(seconds))

    async def within(self, seconds: float, work: Awaitable[Any]) -> Any:
        """Await `work`, and cancel it after `seconds`. Raises TimeoutError then."""
        trio = trio_module()
        if trio is None:
            async with asyncio.timeout(seconds):
                return await work
        with trio.move_on_after(seconds):
            return await work
        raise TimeoutError
