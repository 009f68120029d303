"""For loops of your own: the one function by which they run a tool by its name, guarded."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import Any, TypeAlias

from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolCall, ToolSpec, Verdict
from pytest_tripwire.timeline.loops import trio_module

#: Runs a tool by its name.
Dispatch: TypeAlias = Callable[[str, dict[str, Any]], Any]
AsyncDispatch: TypeAlias = Callable[[str, dict[str, Any]], Awaitable[Any]]


def guarded_dispatch(
    dispatch: Dispatch, run: BreakerRun, specs: Mapping[str, ToolSpec] | None = None
) -> GuardedDispatch:
    """`dispatch`, which asks `run` before each call.

    Args:
        dispatch: runs a tool: `dispatch(name, arguments)`.
        run: decides.
        specs: declarations of the tools by name; they outweigh those of the run's breaker.

    Raises:
        TypeError: for a function that is async: that takes `aguarded_dispatch`.
    """
    if inspect.iscoroutinefunction(dispatch):
        raise TypeError("guarded_dispatch() got an async function: use aguarded_dispatch()")
    return GuardedDispatch(dispatch, run, specs or {})


def aguarded_dispatch(
    dispatch: AsyncDispatch, run: BreakerRun, specs: Mapping[str, ToolSpec] | None = None
) -> AsyncGuardedDispatch:
    """The same for an async `dispatch`."""
    return AsyncGuardedDispatch(dispatch, run, specs or {})


class GuardedDispatch:
    """A loop's dispatch that asks first."""

    def __init__(self, dispatch: Dispatch, run: BreakerRun, specs: Mapping[str, ToolSpec]) -> None:
        self._run = run
        self._tools = _Tools(run, specs, lambda name: _body(dispatch, name))

    def __call__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Run a tool, or return the refusal. What the tool raises comes through unchanged.

        Raises:
            UndeclaredToolError: nobody declared what the tool does; nothing has run.
        """
        self._tools.take([name])
        return self._run.call(name, arguments, call_id=call_id, agent=agent)

    def batch(self, calls: Sequence[ToolCall]) -> list[Any]:
        """All calls of one message of the model: every one is decided about before the first is
        run, then they run side by side in threads. Returns, in the same order, each one's result
        or refusal, or the exception that the tool has raised.

        Raises:
            UndeclaredToolError: nobody declared what one of the tools does; nothing has run.
        """
        self._tools.take(each.tool for each in calls)
        with _begun(self._run, calls, self._run.decide_batch(calls)) as batch:
            if len(calls) == 1:
                return [_outcome(lambda: batch.perform(0))]
            with ThreadPoolExecutor(max(1, len(calls))) as pool:
                running = [
                    pool.submit(copy_context().run, batch.perform, place)
                    for place in range(len(calls))
                ]
            return [_outcome(each.result) for each in running]


class AsyncGuardedDispatch:
    """The same for async loops."""

    def __init__(
        self, dispatch: AsyncDispatch, run: BreakerRun, specs: Mapping[str, ToolSpec]
    ) -> None:
        self._run = run
        self._tools = _Tools(run, specs, lambda name: _abody(dispatch, name))

    async def __call__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Run a tool, or return the refusal. Raises as the sync one does."""
        self._tools.take([name])
        return await self._run.acall(name, arguments, call_id=call_id, agent=agent)

    async def batch(self, calls: Sequence[ToolCall]) -> list[Any]:
        """The same as the sync one, side by side as tasks. Where it is cancelled, those that are
        under way are cancelled and settled, and those that were not begun are taken back.
        """
        self._tools.take(each.tool for each in calls)
        verdicts = await self._run.adecide_batch(calls)
        with _begun(self._run, calls, verdicts) as batch:
            results = await _side_by_side([partial(batch.aperform, n) for n in range(len(calls))])
        return [_outcome(each) for each in results]


class _Tools:
    """What a run has been told of a loop's tools."""

    def __init__(
        self,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec],
        body: Callable[[str], Callable[..., Any]],
    ) -> None:
        self._run, self._specs, self._body = run, specs, body
        self._taken: set[str] = set()
        # All that are known, as the read that settles a lost write may not have been called yet.
        self.take(specs)

    def take(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._taken:
                self._run.guard({name: self._body(name)}, self._specs)
                self._taken.add(name)


class _Batch:
    """The calls of one message, each with its verdict."""

    def __init__(
        self, run: BreakerRun, calls: Sequence[ToolCall], verdicts: Sequence[Verdict]
    ) -> None:
        self._run = run
        self._decided = list(zip(calls, verdicts, strict=True))
        self._begun: set[int] = set()

    def perform(self, place: int) -> Any:
        self._begun.add(place)
        return self._run.perform(*self._decided[place])

    async def aperform(self, place: int) -> Any:
        self._begun.add(place)
        return await self._run.aperform(*self._decided[place])

    def take_back(self) -> None:
        """Those that were let through and not begun, when something has ended the batch early."""
        for place, (call, verdict) in enumerate(self._decided):
            if verdict.allowed and place not in self._begun:
                self._run.withdraw(call)


@contextmanager
def _begun(
    run: BreakerRun, calls: Sequence[ToolCall], verdicts: Sequence[Verdict]
) -> Iterator[_Batch]:
    batch = _Batch(run, calls, verdicts)
    try:
        yield batch
    finally:
        batch.take_back()


def _body(dispatch: Dispatch, name: str) -> Callable[..., Any]:
    def body(**arguments: Any) -> Any:
        return dispatch(name, arguments)

    return body


def _abody(dispatch: AsyncDispatch, name: str) -> Callable[..., Any]:
    async def body(**arguments: Any) -> Any:
        return await dispatch(name, arguments)

    return body


def _outcome(result: Callable[[], Any]) -> Any:
    """A call's result, or the exception that its tool has raised."""
    try:
        return result()
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer here
        return error


async def _side_by_side(work: Sequence[Callable[[], Awaitable[Any]]]) -> list[Callable[[], Any]]:
    """Await all, under asyncio or trio. How to get at what each has given or raised."""
    futures: list[Future[Any]] = [Future() for _ in work]

    async def one(place: int) -> None:
        try:
            futures[place].set_result(await work[place]())
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its answer here
            futures[place].set_exception(error)

    trio = trio_module()
    if trio is None:
        async with asyncio.TaskGroup() as group:
            for place in range(len(work)):
                group.create_task(one(place))
    else:
        async with trio.open_nursery() as nursery:
            for place in range(len(work)):
                nursery.start_soon(one, place)
    return [each.result for each in futures]
