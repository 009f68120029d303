"""Own loops: the whole message of the model is seen, and so its calls are decided as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.adapters.anthropic.turn import field, tool_uses
from pytest_tripwire.adapters.bridge import Bridge, Native
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolCall, ToolSpec, Verdict

Dispatch = Callable[[str, dict[str, Any]], Any]


def guarded_dispatch(
    dispatch: Dispatch,
    run: BreakerRun,
    specs: Mapping[str, ToolSpec],
    *,
    agent: str | None = None,
) -> GuardedDispatch:
    """Answers whole messages of the model: `messages.append(answer(reply))`.

    Args:
        dispatch: runs a tool by name, with its arguments; sync or async.
        run: decides.
        specs: declarations of all tools, by name.
        agent: whose loop it is, where several share the run.
    """
    return GuardedDispatch(dispatch, run, specs, agent=agent)


class GuardedDispatch:
    """What `guarded_dispatch` gives."""

    def __init__(
        self,
        dispatch: Dispatch,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec],
        *,
        agent: str | None = None,
    ) -> None:
        self._dispatch, self._run, self._agent = dispatch, run, agent
        self._bridge = Bridge(run, specs)
        self._asynchronous = inspect.iscoroutinefunction(dispatch)
        for name in specs:
            self._bridge.take(name, asynchronous=self._asynchronous)

    def __call__(self, message: Any) -> dict[str, Any]:
        """The user's message with a result for each call of the model's `message`, to be appended
        to the conversation after it. What a tool raises is told as a result with `is_error`.

        Args:
            message: the model's answer, or an assistant message of a saved conversation.
        """
        calls = self._calls(message)
        verdicts = self._bridge.decide_batch(calls, self._native(Kept()))
        with _undone(self._run, calls, verdicts) as pairs:
            return _user([self._answer(*each) for each in pairs])

    async def acall(self, message: Any) -> dict[str, Any]:
        """The same for an async dispatch."""
        calls = self._calls(message)
        verdicts = await self._bridge.adecide_batch(calls, self._anative(Kept()))
        with _undone(self._run, calls, verdicts) as pairs:
            return _user([await self._aanswer(*each) for each in pairs])

    def _calls(self, message: Any) -> list[ToolCall]:
        return [
            ToolCall(
                call_id=str(field(each, "id")),
                tool=str(field(each, "name")),
                arguments=field(each, "input"),
                agent=self._agent or self._run.agent or None,
            )
            for each in tool_uses(field(message, "content"))
        ]

    def _native(self, kept: Kept) -> Native:
        return lambda name, arguments: kept.seen(self._dispatch(name, arguments))

    def _anative(self, kept: Kept) -> Native:
        async def native(name: str, arguments: dict[str, Any]) -> Any:
            return kept.seen(await self._dispatch(name, arguments))

        return native

    def _answer(self, call: ToolCall, verdict: Verdict) -> dict[str, Any]:
        kept = Kept()
        try:
            result = self._bridge.carry_out(call, verdict, self._native(kept))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises, the model is told
            return _failed(call, error)
        return _told(call, kept.shown(result))

    async def _aanswer(self, call: ToolCall, verdict: Verdict) -> dict[str, Any]:
        kept = Kept()
        try:
            result = await self._bridge.acarry_out(call, verdict, self._anative(kept))
        except Exception as error:  # noqa: BLE001 - as above
            return _failed(call, error)
        return _told(call, kept.shown(result))


@contextmanager
def _undone(
    run: BreakerRun, calls: list[ToolCall], verdicts: list[Verdict]
) -> Iterator[Iterator[tuple[ToolCall, Verdict]]]:
    """Each call with its verdict. Those that are left when something breaks off are taken back:
    they were let through and never begun.
    """
    pairs = iter(list(zip(calls, verdicts, strict=True)))
    try:
        yield pairs
    finally:
        for call, verdict in pairs:
            if verdict.allowed:
                run.withdraw(call)


def _told(call: ToolCall, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call.call_id, "content": content}


def _failed(call: ToolCall, error: Exception) -> dict[str, Any]:
    return {**_told(call, f"{type(error).__name__}: {error}"), "is_error": True}


def _user(results: list[dict[str, Any]]) -> dict[str, Any]:
    return {"role": "user", "content": results}
