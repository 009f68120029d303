"""For loops of your own: the one function by which they run a tool by its name, guarded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_tripwire.adapters.batches import aside_by_side, side_by_side
from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.forms import AsyncDispatch, Dispatch, awaited, plain
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolCall, ToolSpec


def guarded_dispatch(
    dispatch: Dispatch, run: BreakerRun, specs: Mapping[str, ToolSpec] | None = None
) -> GuardedDispatch:
    """`dispatch`, which asks `run` before each call.

    Args:
        dispatch: runs a tool: `dispatch(name, arguments)`.
        run: decides.
        specs: declarations of the tools by name; they outweigh those of the run's breaker.

    Raises:
        WrongFormError: it is async: that takes `aguarded_dispatch`.
    """
    return GuardedDispatch(dispatch, run, specs or {})


def aguarded_dispatch(
    dispatch: AsyncDispatch, run: BreakerRun, specs: Mapping[str, ToolSpec] | None = None
) -> AsyncGuardedDispatch:
    """The same for code with tasks; `dispatch` may be async or not."""
    return AsyncGuardedDispatch(dispatch, run, specs or {})


class GuardedDispatch:
    """A loop's dispatch that asks first."""

    def __init__(self, dispatch: Dispatch, run: BreakerRun, specs: Mapping[str, ToolSpec]) -> None:
        self._native = plain(dispatch, instead="aguarded_dispatch()")
        self._bridge = Bridge(run, specs)
        # All that are known, as the read that settles a lost write may not have been called yet.
        self._bridge.take_all(specs, asynchronous=False)

    def __call__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Run a tool, or return the refusal. What the tool raises comes through unchanged, but for
        `NotBegun`, whose answer is returned.

        Raises:
            UndeclaredToolError: nobody declared what the tool does; nothing has run.
        """
        self._bridge.take(name, asynchronous=False)
        return self._bridge.call(name, arguments, self._native, call_id=call_id, agent=agent)

    def batch(self, calls: Sequence[ToolCall]) -> list[Any]:
        """All calls of one message of the model: every one is decided about before the first is
        run, then they run side by side in threads. Returns, in the same order, each one's result
        or refusal, or the exception that the tool has raised.

        Raises:
            UndeclaredToolError: nobody declared what one of the tools does; nothing has run.
        """
        self._bridge.take_all((each.tool for each in calls), asynchronous=False)
        return side_by_side(self._bridge, calls, self._native)


class AsyncGuardedDispatch:
    """The same for async loops."""

    def __init__(
        self, dispatch: AsyncDispatch, run: BreakerRun, specs: Mapping[str, ToolSpec]
    ) -> None:
        self._native = awaited(dispatch)
        self._bridge = Bridge(run, specs)
        self._bridge.take_all(specs, asynchronous=True)

    async def __call__(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Run a tool, or return the refusal. Raises as the sync one does."""
        self._bridge.take(name, asynchronous=True)
        return await self._bridge.acall(name, arguments, self._native, call_id=call_id, agent=agent)

    async def batch(self, calls: Sequence[ToolCall]) -> list[Any]:
        """The same as the sync one, side by side as tasks. Where it is cancelled, those that are
        under way are cancelled and settled, and those that were not begun are taken back.
        """
        self._bridge.take_all((each.tool for each in calls), asynchronous=True)
        return await aside_by_side(self._bridge, calls, self._native)
