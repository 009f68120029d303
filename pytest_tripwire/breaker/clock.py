"""The clock of a run in production."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

from pytest_tripwire.timeline.loops import trio_module


class SystemClock:
    """Seconds that never go back, under asyncio and under trio.

    They count from the epoch of Unix as this process saw it when the clock was made, so that what
    one process writes down another can compare: as well as the clocks of their machines agree.
    """

    def __init__(self) -> None:
        self._began = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch of Unix."""
        return self._began + time.monotonic()

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
