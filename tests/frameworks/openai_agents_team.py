"""A team that guards its agents of the OpenAI Agents SDK itself, as in production: its own breaker
keeps the record of a run that waits, and the SDK's own state is the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from agents import Agent, RunConfig, RunHooks, Runner, RunState

from pytest_tripwire import Task
from pytest_tripwire.adapters.openai_agents import guarded
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted
from pytest_tripwire.timeline import InterruptionRecord

from ..cases.production_team import WRITTEN  # noqa: TID252 - no package to import from
from .taking_up import WORKFLOW, taken_up

WAITS = "I have looked at the order and wait for an operator."
OPTIONS: dict[str, Any] = {"max_turns": 60, "run_config": RunConfig(tracing_disabled=True)}


def breaker_of(task: Task) -> Breaker:
    """The team's own breaker, on the task's limits and clock."""
    each = task.token_price_usd * 1_000_000
    # How long a case's conversation is in tokens is nothing that an agent could change.
    limits = msgspec.structs.replace(task.limits, max_tokens=None)
    return Breaker(
        budget=limits,
        clock=task.clock,
        specs=WRITTEN,
        prices={task.model.name: (each, each)},
    )


def support(task: Task) -> Any:
    return Agent[None](
        name="support",
        instructions="Help.",
        tools=task.tools.openai_agents(),
        model=task.model.openai_agents(),
    )


def as_it_is(task: Task, order: str) -> str | None:
    """Ask the business, and not through the run."""
    return str(task.tools.call("get_order", {"order_id": order})["version"])


def as_it_was(_task: Task, _order: str) -> str | None:
    """What a team says that never asks: the version that the agent has seen."""
    return "1"


class Team:
    """An agent that shows an operator what it has read of an order, and goes on where it was.

    Args:
        now: the version of a record as it is now.
        way: how the SDK is run where nothing is waited for.
    """

    def __init__(
        self, now: Callable[[Task, str], str | None] = as_it_is, way: str = "stream"
    ) -> None:
        self._now, self._way = now, way
        self._breaker: Breaker | None = None
        self.record: InterruptionRecord | None = None
        self.state: str | None = None
        self.heard: list[Any] = []

    async def __call__(self, task: Task) -> str:
        run = self._taken_up(task) if task.resume else self._begun(task)
        try:
            with run:
                answer = await self._work(task, run)
                if self.state is not None and task.resume is None:
                    run.interrupt(WAITS)
        except Interrupted as stop:
            self.record = stop.record
            if self.state is None:
                raise
            return WAITS
        return answer

    async def _work(self, task: Task, run: BreakerRun) -> str:
        agent = guarded(support(task), run)
        words: Any = task.prompt
        if task.resume and self.state:
            words = await RunState.from_string(agent, self.state)
            said = f"The operator says: {task.resume.decision}."
            words.add_input([_message("assistant", WAITS), _message("user", said)])
        if self._way == "run" and "get_order" not in task.tools:
            return str((await Runner.run(agent, words, **OPTIONS)).final_output)
        hooks = None if task.resume else _Parks()
        result = Runner.run_streamed(agent, words, hooks=hooks, **OPTIONS)
        if hooks is not None:
            hooks.stream = result
        try:
            async for _ in result.stream_events():
                pass
        finally:
            self.heard = result.to_input_list()
        if hooks is not None and hooks.parked:
            self.state = result.to_state().to_string()
        return str(result.final_output)

    def _begun(self, task: Task) -> BreakerRun:
        self._breaker = breaker_of(task)
        return self._breaker.run(workflow=WORKFLOW)

    def _taken_up(self, task: Task) -> BreakerRun:
        return taken_up(self._breaker, self.record, lambda order: self._now(task, order))


def _message(role: str, content: str) -> Any:
    return {"role": role, "content": content}


class _Parks(RunHooks[Any]):
    """Ends the SDK's run when an order has been read, before its model is asked again."""

    def __init__(self) -> None:
        self.stream: Any = None
        self.parked = False

    async def on_tool_end(self, _context: Any, _agent: Any, tool: Any, _result: Any) -> None:
        if tool.name == "get_order":
            self.stream.cancel(mode="after_turn")
            self.parked = True
