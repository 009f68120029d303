"""Own loops: the whole message of the model is seen, and so its calls are decided as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.adapters.anthropic.turn import field, tool_uses
from pytest_tripwire.adapters.batches import ain_order, in_order
from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.forms import AsyncDispatch, awaited, plain
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.guard.calling import is_async
from pytest_tripwire.timeline import ToolCall, ToolSpec


def guarded_dispatch(
    dispatch: AsyncDispatch,
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
        dispatch: AsyncDispatch,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec],
        *,
        agent: str | None = None,
    ) -> None:
        self._dispatch, self._run, self._agent = dispatch, run, agent
        self._bridge = Bridge(run, specs)
        self._bridge.take_all(specs, asynchronous=is_async(dispatch))

    def __call__(self, message: Any) -> dict[str, Any]:
        """The user's message with a result for each call of the model's `message`, to be appended
        to the conversation after it. What a tool raises is told as a result with `is_error`.

        Args:
            message: the model's answer, or an assistant message of a saved conversation.

        Raises:
            WrongFormError: the dispatch is async: that takes `acall`.
        """
        calls, kept = self._calls(message), Kept()
        native = kept.over(plain(self._dispatch, instead="await answer.acall(message)"))
        return _answered(calls, in_order(self._bridge, calls, native), kept)

    async def acall(self, message: Any) -> dict[str, Any]:
        """The same as a task, for a dispatch that is async or not."""
        calls, kept = self._calls(message), Kept()
        native = kept.aover(awaited(self._dispatch))
        return _answered(calls, await ain_order(self._bridge, calls, native), kept)

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


def _answered(calls: Sequence[ToolCall], results: Sequence[Any], kept: Kept) -> dict[str, Any]:
    pairs = zip(calls, results, strict=True)
    return {"role": "user", "content": [_told(call, result, kept) for call, result in pairs]}


def _told(call: ToolCall, result: Any, kept: Kept) -> dict[str, Any]:
    answer = {"type": "tool_result", "tool_use_id": call.call_id}
    if isinstance(result, BaseException):
        return {**answer, "content": f"{type(result).__name__}: {result}", "is_error": True}
    return {**answer, "content": kept.shown(result)}
