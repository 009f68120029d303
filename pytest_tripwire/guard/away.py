"""Work that waits for a disk or a network, done in a thread so that an event loop goes on."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from typing import Any, TypeVar

from pytest_tripwire.timeline.loops import trio_module

T = TypeVar("T")


async def away(work: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
    """What `work` returns, or raises. It is waited for whatever happens: a task that is cancelled
    meanwhile ends when the work is done, and undone.

    Args:
        work: is called in a thread, with a copy of the task's context.
        undo: is called, in a thread too, with what the work has returned, if the task was cancelled
            by then.
    """
    trio = trio_module()
    if trio is not None:
        return await _away_in_trio(trio, work, undo)
    result, cancelled = await _waited_for(work)
    if cancelled is None:
        return result
    if undo is not None:
        await _waited_for(lambda: undo(result))
    raise cancelled


async def _away_in_trio(trio: Any, work: Callable[[], T], undo: Callable[[T], object] | None) -> T:
    with trio.CancelScope(shield=True):  # or a task that is cancelled already would do nothing
        result: T = await trio.to_thread.run_sync(work)
    try:
        await trio.lowlevel.checkpoint_if_cancelled()
    except trio.Cancelled:
        if undo is not None:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(undo, result)
        raise
    return result


async def _waited_for(work: Callable[[], T]) -> tuple[T, asyncio.CancelledError | None]:
    """What `work` has returned, and the last cancellation that came meanwhile."""
    context = contextvars.copy_context()
    future: asyncio.Future[Any] = asyncio.get_running_loop().run_in_executor(
        None, lambda: context.run(work)
    )
    cancelled: asyncio.CancelledError | None = None
    while not future.done():
        try:
            # Unlike a shielded await, this leaves an exception of the work where it is.
            await asyncio.wait([future])
        except asyncio.CancelledError as error:
            cancelled = error
    try:
        return future.result(), cancelled
    except Exception as error:
        if cancelled is not None:
            raise cancelled from error
        raise
