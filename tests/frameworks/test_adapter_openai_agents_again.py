"""What a run of the breaker guards already stays as it is, alone and within a team."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from pytest_tripwire.adapters.openai_agents import guarded
from pytest_tripwire.breaker import Breaker, tool_spec

NEEDS = ("openai-agents",)
QUIET = RunConfig(tracing_disabled=True)


def shop(paid: list[str]) -> Agent[None]:
    @function_tool
    @tool_spec(effect="write", identity=("order",))
    def pay(order: str) -> str:
        """Pay."""
        paid.append(order)
        return "paid"

    model = ScriptedModel(
        [
            ModelStep(output=[function_call("pay", {"order": "A"}, call_id="c-1")]),
            ModelStep(output=[function_call("pay", {"order": "A"}, call_id="c-2")]),
            ModelStep(output=[assistant_message("Done.")]),
        ]
    )
    return Agent[None](name="till", tools=[pay], model=model)


def test_a_guarded_agent_is_guarded_once() -> None:
    paid: list[str] = []
    with Breaker().run() as run:
        agent = guarded(guarded(shop(paid), run), run)
        asyncio.run(Runner.run(agent, "Pay.", run_config=QUIET))
        assert run.stats().turns == 3

    assert paid == ["A"]


def test_a_guarded_agent_within_a_team_is_guarded_once() -> None:
    paid: list[str] = []
    with Breaker().run() as run:
        till = guarded(shop(paid), run)
        team: Any = guarded(Agent[None](name="desk", handoffs=[till]), run)

        assert guarded(team, run) is team
        asyncio.run(Runner.run(till, "Pay.", run_config=QUIET))

    assert paid == ["A"]
