"""What cannot be guarded on the Agent Development Kit is an error, unless it may stay."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent
from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.tools import (
    google_search,
)
from google.adk.tools.base_toolset import BaseToolset

from pytest_tripwire.adapters.adk import guarded
from pytest_tripwire.breaker import Breaker, tool_spec
from pytest_tripwire.guard import UndeclaredToolError

from .adk_shop import (
    Shop,
    replies,
    ring,
)

NEEDS = ("google-adk",)


class Many(BaseToolset):
    async def get_tools(self, readonly_context: Any = None) -> list[Any]:
        return []

    async def close(self) -> None:
        pass


class Own(BaseAgent):
    """An agent of a team's own, which does whatever it does."""


async def works_on() -> AsyncIterator[str]:
    """Work on after it has returned."""
    yield "working"


def hands_out() -> Iterator[str]:
    """Work on while somebody takes it."""
    yield "working"


class Streams:
    """Works on, and is no function."""

    __name__ = "streams"

    def __call__(self) -> Iterator[str]:
        """Work on while somebody takes it."""
        yield "working"


UNSEEN: dict[str, dict[str, Any]] = {
    "google_search": {"tools": [google_search]},
    "Many": {"tools": [Many()]},
    "works_on": {"tools": [works_on]},
    "hands_out": {"tools": [hands_out]},
    "streams": {"tools": [Streams()]},
    "code_executor": {"code_executor": BuiltInCodeExecutor()},
    "own": {"sub_agents": [Own(name="own")]},
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_cannot_be_guarded_is_an_error_unless_it_is_named(name: str) -> None:
    agent = LlmAgent(name="clerk", model=replies(), **copy.copy(UNSEEN[name]))

    with Breaker().run() as run:
        with pytest.raises(TypeError, match=f"'{name}' of"):
            guarded(agent, run)
        clone = guarded(agent, run, unguarded=[name])

    assert clone.tools == agent.tools


def test_a_tool_that_nobody_declared_is_an_error() -> None:
    def mystery() -> str:
        """Do something."""
        return ""

    with Breaker().run() as run, pytest.raises(UndeclaredToolError, match="mystery"):
        guarded(LlmAgent(name="clerk", model=replies(), tools=[mystery]), run)


def test_two_tools_of_one_name_that_are_declared_differently_are_an_error() -> None:
    @tool_spec(effect="write", identity=("order", "cents"))
    def pay(order: str, cents: int) -> str:
        """Pay."""
        return "paid"

    agent = ring(Shop(), replies(), replies())
    agent.sub_agents[0].tools = [pay]

    with Breaker().run() as run, pytest.raises(TypeError, match=r"two tools .* 'pay'"):
        guarded(agent, run)
