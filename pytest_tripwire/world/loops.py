"""Waiting in threads, under asyncio and under trio, and being woken from any of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Protocol

from pytest_tripwire.timeline.loops import in_asyncio, trio_module


class Bell(Protocol):
    """Something that one task waits for and any thread may ring."""

    def ring(self) -> None:
        """Wake the waiter; from any thread."""


class ThreadBell:
    """For sync code."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ring(self) -> None:
        """Wake the thread."""
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Whether it rang within so many real seconds."""
        return self._event.wait(seconds)


class TaskBell:
    """For async code, under the loop that it is made in."""

    def __init__(self) -> None:
        trio = trio_module()
        self._trio = trio
        self._event: Any = trio.Event() if trio else asyncio.Event()
        self._call: Callable[[Callable[[], Any]], Any] = (
            trio.lowlevel.current_trio_token().run_sync_soon
            if trio
            else asyncio.get_running_loop().call_soon_threadsafe
        )

    def ring(self) -> None:
        """Wake the task, by way of its loop."""
        self._call(self._event.set)

    async def wait(self, seconds: float) -> bool:
        """Whether it rang within so many real seconds."""
        if self._trio:
            with self._trio.move_on_after(seconds):
                await self._event.wait()
        else:
            try:
                async with asyncio.timeout(seconds):
                    await self._event.wait()
            except TimeoutError:
                pass
        return bool(self._event.is_set())


def soon(callback: Callable[[], None]) -> None:
    """Call back from the running loop, once the current task lets it."""
    trio = trio_module()
    if trio is not None:
        trio.lowlevel.current_trio_token().run_sync_soon(callback)
    elif in_asyncio():
        asyncio.get_running_loop().call_soon(callback)
    else:  # a task that is thrown away after its loop has ended
        callback()
