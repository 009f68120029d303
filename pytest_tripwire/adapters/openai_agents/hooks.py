"""Model requests of an agent, told to a run; the SDK's own way to end one that is stopped."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from agents import AgentHooks, ItemHelpers
from agents.exceptions import AgentsException

from pytest_tripwire.adapters.openai_agents.metered import (
    Request,
    asked_model,
    begun,
    model_of,
)
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Mode


class StoppedError(AgentsException):
    """Ends a run of the SDK's before its next model request, as the breaker has stopped. Every tool
    that was called has come back by then.
    """


class Hooks(AgentHooks):
    """Tells a run of each model request of an agent.

    Args:
        run: is told.
        also: the agent's own hooks, which are called as before.
        count_model: whether requests are counted; False where somebody else counts them, and only
            the end is to be made.
        check: looks at the agent before each of its requests and calls, and raises what ends it.
    """

    def __init__(
        self,
        run: BreakerRun,
        also: Any = None,
        *,
        count_model: bool = True,
        check: Callable[[Any], None] | None = None,
    ) -> None:
        self._run, self._check = run, check
        self._also = also if also is not None else AgentHooks()
        self._counts = count_model

    def tells(self, run: BreakerRun) -> bool:
        """Whether it is this run that is told."""
        return self._run is run

    def on_llm_start(self, *given: Any, **named: Any) -> Coroutine[Any, Any, None]:
        """Open a turn. What is awaited raises StoppedError if the request must not be sent."""
        # Now, in the SDK's own task: hooks are awaited in others, side by side.
        hears(_asked_first(named["input_items"] if "input_items" in named else given[3]))
        if self._counts:
            begun(Request(self, self._run, asked_model()))
        return self._open(*given, **named)

    async def _open(self, *given: Any, **named: Any) -> None:
        self._look_at(*given, **named)
        await self._also.on_llm_start(*given, **named)
        if self._run.mode is Mode.STOPPED and not self._run.shadow:
            raise StoppedError(f"the breaker has stopped this run: {self._run.last_reason}")
        verdict = self._run.before_model() if self._counts else None
        if verdict is not None and not verdict.allowed:
            raise StoppedError(verdict.message)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Pay for the request, before anybody else can raise."""
        if self._counts:
            model = model_of(self, agent)
            self._run.after_model(_usage(response), text=_text(response), model=model)
        await self._also.on_llm_end(context, agent, response)

    async def on_start(self, *given: Any, **named: Any) -> None:
        """Of the agent's own hooks."""
        await self._also.on_start(*given, **named)

    async def on_end(self, *given: Any, **named: Any) -> None:
        """Of the agent's own hooks."""
        await self._also.on_end(*given, **named)

    async def on_handoff(self, *given: Any, **named: Any) -> None:
        """Of the agent's own hooks."""
        await self._also.on_handoff(*given, **named)

    async def on_tool_start(self, *given: Any, **named: Any) -> None:
        """Of the agent's own hooks."""
        self._look_at(*given, **named)
        await self._also.on_tool_start(*given, **named)

    async def on_tool_end(self, *given: Any, **named: Any) -> None:
        """Of the agent's own hooks."""
        await self._also.on_tool_end(*given, **named)

    def _look_at(self, *given: Any, **named: Any) -> None:
        if self._check is not None:
            self._check(named["agent"] if "agent" in named else given[1])


def _asked_first(items: Any) -> str:
    """What a user has said first of all."""
    said = (each.get("content") for each in items if isinstance(each, dict) and _is_users(each))
    return str(next(said, ""))


def _is_users(item: dict[str, Any]) -> bool:
    return item.get("role") == "user"


def _usage(response: Any) -> Usage:
    """What the request used; the SDK says 0 where the provider says nothing."""
    used = response.usage
    if not used.total_tokens and not used.input_tokens and not used.output_tokens:
        return Usage()
    details = used.input_tokens_details
    return Usage(
        prompt_tokens=used.input_tokens,
        completion_tokens=used.output_tokens,
        cached_tokens=getattr(details, "cached_tokens", None),
        cache_write_tokens=getattr(details, "cache_write_tokens", None),
    )


def _text(response: Any) -> str:
    parts = (ItemHelpers.extract_text(each) for each in response.output)
    return "\n".join(part for part in parts if part)
