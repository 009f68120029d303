"""The breaker as a middleware of `create_agent`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage

from pytest_tripwire.adapters.langchain.deciding import Deciding
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec


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
        self._take(request.tools)
        if not self._count_model:
            return handler(request)
        verdict = self._run.before_model()
        if not verdict.allowed:
            return AIMessage(verdict.message)
        try:
            response = handler(request)
        except BaseException:
            self._run.model_failed()
            raise
        self._paid(response)
        return response

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """The same as a task."""
        self._take(request.tools)
        if not self._count_model:
            return await handler(request)
        verdict = self._run.before_model()
        if not verdict.allowed:
            return AIMessage(verdict.message)
        try:
            response = await handler(request)
        except BaseException:
            self._run.model_failed()
            raise
        self._paid(response)
        return response

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

    def _paid(self, response: Any) -> None:
        message = next((e for e in response.result if isinstance(e, AIMessage)), None)
        metadata = message.response_metadata if message is not None else {}
        self._run.after_model(
            usage_of(message),
            message.text if message is not None else "",
            model=metadata.get("model_name") or metadata.get("model"),
            provider=metadata.get("model_provider"),
        )


def _provided(tool: Any) -> str | None:
    """The name of a tool that the model's provider runs itself; None for any other."""
    if not isinstance(tool, Mapping):
        return None
    return str(tool.get("name") or tool.get("type") or tool)


def usage_of(message: Any) -> Usage:
    """What a model's message says about its usage; what it does not say stays unknown."""
    told = getattr(message, "usage_metadata", None)
    if not told:
        return Usage()
    details = told.get("input_token_details") or {}
    return Usage(
        prompt_tokens=told.get("input_tokens"),
        completion_tokens=told.get("output_tokens"),
        cached_tokens=details.get("cache_read"),
        cache_write_tokens=details.get("cache_creation"),
    )
