"""The clock of a run in production."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Monotonic seconds. Sleeping under another loop than asyncio's needs a clock of its own."""

    def now(self) -> float:
        """Seconds since an arbitrary moment."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Block this thread."""
        time.sleep(seconds)

    async def asleep(self, seconds: float) -> None:
        """Yield to other tasks for `seconds`."""
        await asyncio.sleep(seconds)
