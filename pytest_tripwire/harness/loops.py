"""Event loops: asyncio, or trio where the test runs under it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any


def in_loop() -> bool:
    """Whether this thread is inside a running event loop."""
    return _asyncio_runs() or _trio() is not None


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a blocking function beside the running loop."""
    trio = _trio()
    if trio is not None:
        return await trio.to_thread.run_sync(function, *args)
    return await asyncio.to_thread(function, *args)


async def wait_at_most(work: Awaitable[Any], seconds: float) -> Any:
    """Await `work`, cancelling it after so many real seconds. Raises TimeoutError then."""
    trio = _trio()
    if trio is not None:
        with trio.fail_after(seconds):
            return await work
    async with asyncio.timeout(seconds):
        return await work


def _asyncio_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _trio() -> Any:
    """The trio module, if the current task is one of trio's."""
    trio = sys.modules.get("trio")
    if trio is None or _asyncio_runs():
        return None
    try:
        trio.lowlevel.current_task()
    except RuntimeError:
        return None
    return trio
