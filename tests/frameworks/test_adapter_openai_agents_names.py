"""Agents of one run that have tools of the same name."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call

from pytest_tripwire.adapters.openai_agents import guarded
from pytest_tripwire.breaker import Breaker, tool_spec

NEEDS = ("openai-agents",)


def sender(whose: str, done: list[str], effect: str) -> Any:
    @function_tool(name_override="send")
    @tool_spec(effect=effect)
    async def send(to: str) -> str:
        """Send."""
        done.append(f"{whose} to {to}")
        return "sent"

    return send


def test_each_agents_own_body_runs() -> None:
    done: list[str] = []
    model = ScriptedModel(
        [[function_call("send", {"to": "x"}, call_id="call-1")], [assistant_message("Done.")]]
    )
    other = Agent[None](name="other", tools=[sender("other", done, "write")], model=model)
    first = Agent[None](
        name="first", tools=[sender("first", done, "write")], handoffs=[other], model=model
    )

    with Breaker().run() as run:
        config = RunConfig(tracing_disabled=True)
        asyncio.run(Runner.run(guarded(first, run), "Send.", run_config=config))

    assert done == ["first to x"]


def test_one_name_for_a_read_and_a_write_is_refused() -> None:
    other = Agent[None](name="other", tools=[sender("other", [], "write")])
    first = Agent[None](name="first", tools=[sender("first", [], "read")], handoffs=[other])

    with pytest.raises(TypeError, match="two tools of these agents are called 'send'"):
        guarded(first, Breaker().run())
