"""Event loops: asyncio, or trio where the test runs under it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pytest_tripwire.timeline.loops import in_asyncio, trio_module


def in_loop() -> bool:
    """Whether this thread is inside a running event loop."""
    return in_asyncio() or trio_module() is not None


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a blocking function beside the running loop."""
    trio = trio_module()
    if trio is not None:
        return await trio.to_thread.run_sync(function, *args)
    return await asyncio.to_thread(function, *args)


async def wait_at_most(work: Awaitable[Any], seconds: float) -> Any:
    """Await `work`, cancelling it after so many real seconds. Raises TimeoutError then."""
    trio = trio_module()
    if trio is not None:
        with trio.fail_after(seconds):
            return await work
    async with asyncio.timeout(seconds):
        return await work
