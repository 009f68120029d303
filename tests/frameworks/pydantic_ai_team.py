"""A team that guards its agents on Pydantic AI itself, as in production: its own breaker keeps the
record of a run that waits, and the messages are the checkpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessagesTypeAdapter,
)
from pydantic_ai.capabilities import Hooks
from pydantic_ai.usage import UsageLimits

from pytest_tripwire import Task
from pytest_tripwire.adapters.pydantic_ai import Tripwire
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted
from pytest_tripwire.timeline import Effect, InterruptionRecord, ToolSpec

from ..cases.production_team import WRITTEN  # noqa: TID252 - no package to import from
from .taking_up import WORKFLOW, taken_up

NO_LIMIT = UsageLimits(request_limit=None)


def declared(*, asks: bool) -> dict[str, ToolSpec]:
    """What the team declares; the service's own exceptions are those that it knows."""
    return {name: _in_terms_of_the_service(spec, asks=asks) for name, spec in WRITTEN.items()}


def _in_terms_of_the_service(spec: ToolSpec, *, asks: bool) -> ToolSpec:
    changes: dict[str, Any] = {}
    if spec.effect is Effect.WRITE:
        changes = {"denials": ("PolicyDeniedError",), "requires_approval": asks}
    if spec.name == "issue_refund":
        changes["reconcile"] = "get_refund"
    return msgspec.structs.replace(spec, **changes)


async def tell(_: Any, *, error: Exception, **_call: Any) -> Any:
    """What a tool raises would end the run; the model is told of it."""
    return {"error": type(error).__name__, "message": str(error)}


def as_it_is(task: Task, order: str) -> str | None:
    """Ask the business, and not through the run."""
    return str(task.tools.call("get_order", {"order_id": order})["version"])


def as_it_was(_task: Task, _order: str) -> str | None:
    """What a team says that never asks: the version that the agent has seen."""
    return "1"


async def plainly(agent: Any, said: str | None, **options: Any) -> Any:
    return await agent.run(said, usage_limits=NO_LIMIT, **options)


async def by_events(agent: Any, said: str | None, **options: Any) -> Any:
    async def listen(_: Any, events: Any) -> None:
        async for _event in events:
            pass

    return await agent.run(said, usage_limits=NO_LIMIT, event_stream_handler=listen, **options)


async def step_by_step(agent: Any, said: str | None, **options: Any) -> Any:
    async with agent.iter(said, usage_limits=NO_LIMIT, **options) as run:
        async for _node in run:
            pass
    return run.result


WAYS = {"run": plainly, "streamed": by_events, "iter": step_by_step}


class Team:
    """An agent that waits for an operator's word where it has looked at an order, and goes on where
    it was.

    Args:
        now: the version of a record as it is now.
        way: how the framework is run.
        asks: whether each write is put up for approval in the framework's way, too. The operator
            says yes to each.
        at: where the capability is given.
    """

    def __init__(
        self,
        now: Callable[[Task, str], str | None] = as_it_is,
        way: str = "run",
        *,
        asks: bool = False,
        at: str = "run",
    ) -> None:
        self._now, self._way, self._asks, self._at = now, WAYS[way], asks, at
        self._breaker: Breaker | None = None
        self.record: InterruptionRecord | None = None
        self.state: bytes = b"[]"
        self.runs: list[BreakerRun] = []

    async def __call__(self, task: Task) -> str:
        run = self._taken_up(task) if task.resume else self._begun(task)
        self.runs.append(run)
        waits = "get_order" in task.tools and task.resume is None
        try:
            with run:
                answer = await self._answered(task, run)
                if waits:
                    run.interrupt("It waits for an operator.")
        except Interrupted as stop:
            self.record = stop.record
            if waits:
                return "It waits for an operator."
            raise
        return answer

    async def _answered(self, task: Task, run: BreakerRun) -> str:
        agent, options = self._agent(task, run)
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        heard = ModelMessagesTypeAdapter.validate_json(self.state) if task.resume else None
        result = await self._way(agent, said, message_history=heard, **options)
        while isinstance(result.output, DeferredToolRequests):
            yes = {each.tool_call_id: True for each in result.output.approvals}
            result = await self._way(
                agent,
                None,
                message_history=result.all_messages(),
                deferred_tool_results=DeferredToolResults(approvals=yes),
                **options,
            )
        self.state = result.all_messages_json()
        return str(result.output)

    def _agent(self, task: Task, run: BreakerRun) -> tuple[Any, dict[str, Any]]:
        guard = [Tripwire(run, defer=self._asks)]
        at_the_agent = guard if self._at == "agent" else []
        agent = Agent(
            task.model.pydantic_ai(),
            name="support",
            tools=task.tools.pydantic_ai(),
            output_type=[str, DeferredToolRequests],
            capabilities=[Hooks(tool_execute_error=tell), *at_the_agent],
        )
        return agent, {} if at_the_agent else {"capabilities": guard}

    def _begun(self, task: Task) -> BreakerRun:
        each = task.token_price_usd * 1_000_000
        self._breaker = Breaker(
            budget=task.limits,
            clock=task.clock,
            specs=declared(asks=self._asks),
            prices={task.model.name: (each, each)},
        )
        return self._breaker.run(workflow=WORKFLOW)

    def _taken_up(self, task: Task) -> BreakerRun:
        return taken_up(self._breaker, self.record, lambda order: self._now(task, order))


def in_a_thread_of_its_own(team: Team) -> Callable[[Task], str]:
    """The same as a sync agent."""

    def agent(task: Task) -> str:
        with asyncio.Runner() as runner:
            return runner.run(team(task))

    return agent
