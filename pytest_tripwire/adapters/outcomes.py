"""What each of several calls gives: its result, or the exception that its tool has raised.

A tool may raise a cancellation of its own, from a future that somebody else has cancelled. That is
its answer, as any other exception is; where the calls themselves are cancelled, it is none.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeAlias

from pytest_tripwire.adapters.forms import WrongFormError
from pytest_tripwire.timeline.loops import trio_module

Work: TypeAlias = Callable[[], Any]
AsyncWork: TypeAlias = Callable[[], Awaitable[Any]]


def outcome(work: Work) -> Any:
    """Do it."""
    try:
        return work()
    except WrongFormError:
        raise
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a tool's answer
        return error


async def aoutcome(work: AsyncWork) -> Any:
    """Do it, under asyncio or trio."""
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer
        return error
    except BaseException as error:
        if not _is_cancellation(error) or _is_cancelled():
            raise
        return error


def in_threads(works: Sequence[Work]) -> list[Any]:
    """Do all side by side in threads; a single one in this thread."""
    if len(works) == 1:
        return [outcome(works[0])]
    with ThreadPoolExecutor(max(1, len(works))) as pool:
        running = [pool.submit(copy_context().run, each) for each in works]
    return [outcome(each.result) for each in running]


async def in_tasks(works: Sequence[AsyncWork]) -> list[Any]:
    """Do all side by side as tasks, under asyncio or trio."""
    # What a task leaves behind that was cancelled by itself, and not with the others.
    found: list[Any] = [asyncio.CancelledError() for _ in works]

    async def one(place: int) -> None:
        found[place] = await aoutcome(works[place])

    trio = trio_module()
    if trio is None:
        async with asyncio.TaskGroup() as group:
            for place in range(len(works)):
                group.create_task(one(place))
    else:
        async with trio.open_nursery() as nursery:
            for place in range(len(works)):
                nursery.start_soon(one, place)
    return found


def _is_cancellation(error: BaseException) -> bool:
    trio = trio_module()
    kinds = (asyncio.CancelledError,) if trio is None else (asyncio.CancelledError, trio.Cancelled)
    return isinstance(error, kinds)


def _is_cancelled() -> bool:
    """Whether somebody wants the task under way to end."""
    trio = trio_module()
    if trio is not None:
        return bool(trio.current_effective_deadline() == -math.inf)
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
