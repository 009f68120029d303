"""Tools of frameworks in their parts: agents are shown what the framework shows of them."""

from __future__ import annotations

from typing import Any

import pytest
from agents import WebSearchTool, function_tool
from langchain_core.tools import tool
from pydantic_ai import Tool

from pytest_tripwire import Harness, HarnessError, Options, Role, Task
from pytest_tripwire.world import NONCE, RESOURCE, WORDING

NEEDS = ["openai-agents", "langchain-core", "pydantic-ai-slim"]
ARGS = {"order": RESOURCE, "why": WORDING, "nonce": NONCE}


def pay_back(order: str, why: str, nonce: str, currency: str = "EUR") -> str:
    """Pay an order back."""
    raise AssertionError((order, why, nonce, currency))


NATIVE = {
    "openai_agents": function_tool(pay_back),
    "langchain": tool(pay_back),
    "pydantic_ai": Tool(pay_back),
}


def played(role: Role, case: str, part: str) -> Any:
    """The schema of a tool that an agent is shown in a case, when the agent has called it."""
    seen: list[Any] = []

    def agent(task: Task) -> Any:
        seen.extend(each for each in task.tools.schemas("openai"))
        try:
            return task.tools.call(
                "pay_back",
                {"order": "A-1001", "why": "it broke", "nonce": "n-1", "currency": "EUR"},
            )
        except TimeoutError:
            return None

    run = Harness(case, agent, options=Options(roles={part: role})).run()
    return {each["function"]["name"]: each["function"] for each in seen}, run


@pytest.mark.parametrize("framework", NATIVE)
def test_a_native_tool_plays_a_part(framework: str) -> None:
    shown, run = played(Role(NATIVE[framework], ARGS), "lost-write", "write")

    assert shown["pay_back"]["description"] == "Pay an order back."
    assert set(shown["pay_back"]["parameters"]["properties"]) == {*ARGS, "currency"}
    assert any(type(each).__name__ == "Mutation" for each in run.events)


@pytest.mark.parametrize("framework", NATIVE)
def test_what_no_argument_says_is_told_as_of_any_other(framework: str) -> None:
    with pytest.raises(HarnessError, match="pay_back takes order"):
        played(Role(NATIVE[framework], {"parcel": RESOURCE}), "lost-write", "write")


def test_what_is_of_a_framework_and_no_tool_is_told() -> None:
    with pytest.raises(HarnessError, match="no tool that a model could be shown"):
        played(Role(WebSearchTool(), ARGS), "lost-write", "write")
