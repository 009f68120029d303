"""The breaker as a middleware of `create_agent`."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Collection, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage

from pytest_tripwire.adapters.langchain.counting import ModelCounter, RunStoppedError, counted
from pytest_tripwire.adapters.langchain.deciding import Deciding
from pytest_tripwire.adapters.langchain.heard import asked_first
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Mode, ToolSpec

#: How a request ends that is left before its answer has come.
_CUT_OFF = (CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit)


class TripwireMiddleware(AgentMiddleware):
    """Has a run decide about every call of an agent, and count its model's requests.

    Put it last in `middleware`: then it is next to the tools and the model, and each try of a
    middleware that retries is decided about. Sub-agents get one each, with the same run.

    Args:
        run: decides.
        specs: declarations by name; they outweigh those of the run's breaker.
        count_model: whether the run counts the model's requests; no request is sent when it says
            no, and the agent ends with the reason.
        ask: interrupt the graph for a call that needs a person's yes; `Command(resume=True)`, or
            `{"approved": True}`, gives it. Needs a checkpointer.
        unguarded: tools that the model's provider runs itself, and that may run unseen. Any other
            of these is an error when the model is about to be asked.
    """

    def __init__(
        self,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec] | None = None,
        *,
        count_model: bool = True,
        ask: bool = False,
        unguarded: Collection[str] = (),
    ) -> None:
        super().__init__()
        self._unguarded = frozenset(unguarded)
        self._run, self._count_model = run, count_model
        self._deciding = Deciding(run, specs, ask=ask)

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Decide about a call."""
        return self._deciding.call(request, handler)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """The same as a task."""
        return await self._deciding.acall(request, handler)

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Count a request, or end the agent instead of sending it."""
        hears(asked_first(request.state))
        self._take(request.tools)
        if not self._count_model:
            return self._stop() or handler(request)
        counter = ModelCounter(self._run, listens=False)
        try:
            return handler(_told(request, counter))
        except RunStoppedError as stopped:
            return AIMessage(str(stopped))
        except _CUT_OFF:
            counter.left()
            raise

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """The same as a task."""
        hears(asked_first(request.state))
        self._take(request.tools)
        if not self._count_model:
            return self._stop() or await handler(request)
        counter = ModelCounter(self._run, listens=False)
        try:
            return await handler(_told(request, counter))
        except RunStoppedError as stopped:
            return AIMessage(str(stopped))
        except _CUT_OFF:
            counter.left()
            raise

    def _stop(self) -> Any:
        """The agent's end, if the run was stopped; whoever counts may not look at that."""
        self._run.expire()
        if self._run.mode is not Mode.STOPPED or self._run.shadow:
            return None
        return AIMessage(f"This run is stopped ({self._run.last_reason}): no model is asked.")

    def _take(self, tools: Any) -> None:
        for each in tools:
            name = _provided(each)
            if name is not None and name not in self._unguarded:
                raise TypeError(
                    f"the tool {name!r} is run by the model's provider, and nothing can be put "
                    "before it. Take it out of the agent, or say that it may run unseen: "
                    f"TripwireMiddleware(..., unguarded=[{name!r}])"
                )
        self._deciding.take(tools)


def _told(request: Any, counter: ModelCounter) -> Any:
    """A request whose model tells `counter` of what it sends."""
    return request.override(model=counted(request.model, counter))


def _provided(tool: Any) -> str | None:
    """The name of a tool that the model's provider runs itself; None for any other."""
    if not isinstance(tool, Mapping):
        return None
    return str(tool.get("name") or tool.get("type") or tool)
