"""An application asks its agent about one document after another in one run: what it says and reads
of one is no repeat of what it said and read of another, and about one document it is.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, TypeAlias

import pytest
from agents import Agent, function_tool
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from google.adk.agents import LlmAgent
from langchain.agents import create_agent
from langchain_core.tools import tool
from pydantic_ai import Agent as PydanticAgent

from pytest_tripwire.adapters import adk, anthropic, langchain, openai_agents, pydantic_ai
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted, Mode, Reason, tool_spec

from .adk_shop import Driven, replies, said
from .anthropic_shop import ASKS, calls, later, search
from .anthropic_shop import model as served
from .langchain_kit import by_hand, driven, model_of
from .openai_agents_kit import go, script
from .test_adapter_pydantic_ai_run import model as function_model

NEEDS = ("anthropic", "google-adk", "langchain", "langgraph", "openai-agents", "pydantic-ai-slim")

#: Lets an agent say the same, or look the same up first, when it is asked.
Asks: TypeAlias = Callable[[BreakerRun, str, list[Any]], None]


@tool_spec(effect="read")
def search_orders(query: str) -> str:
    """Look something up."""
    return json.dumps({"says": f"what is said of {query}"})


def by_openai_agents(way: str) -> Asks:
    def asks(run: BreakerRun, words: str, turns: list[Any]) -> None:
        agent = Agent[None](name="judge", tools=[function_tool(search_orders)])
        agent.model = script(*turns)
        asyncio.run(go(openai_agents.guarded(agent, run), words, way=way))

    return asks


def by_langchain(way: str) -> Asks:
    def asks(run: BreakerRun, words: str, turns: list[Any]) -> None:
        guard = langchain.TripwireMiddleware(run)
        agent = create_agent(model_of(*turns), [tool(search_orders)], middleware=[guard])
        driven(agent, {"messages": [("user", words)]}, way)

    return asks


def by_langgraph(way: str) -> Asks:
    def asks(run: BreakerRun, words: str, turns: list[Any]) -> None:
        node = langchain.guarded_tool_node([tool(search_orders)], run)
        agent = by_hand(node, model=langchain.guarded_model(model_of(*turns), run))
        driven(agent, {"messages": [("user", words)]}, way)

    return asks


def by_pydantic_ai(way: str) -> Asks:
    async def listen(_: Any, events: Any) -> None:
        async for _event in events:
            pass

    def asks(run: BreakerRun, words: str, turns: list[Any]) -> None:
        agent = PydanticAgent(function_model(*turns, "Fine."), tools=[search_orders])
        guard = pydantic_ai.Tripwire(run)

        async def later() -> None:
            async with agent.iter(words, capabilities=[guard]) as steps:
                async for _ in steps:
                    pass

        asyncio.run(agent.run(words, capabilities=[guard]) if way == "run" else later())

    return asks


def by_anthropic(run: BreakerRun, words: str, turns: list[Any]) -> None:
    options = {**ASKS, "messages": [{"role": "user", "content": words}]}
    with served(*_moves(turns)) as url, Anthropic(base_url=url, api_key="any") as client:
        tools = anthropic.guarded([beta_tool(search_orders)], run)
        runner = client.beta.messages.tool_runner(tools=tools, **options)
        list(anthropic.follow(runner, run))


def by_async_anthropic(run: BreakerRun, words: str, turns: list[Any]) -> None:
    options = {**ASKS, "messages": [{"role": "user", "content": words}]}

    async def asks(url: str) -> None:
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            tools = anthropic.guarded([beta_async_tool(later(search_orders))], run)
            runner = client.beta.messages.tool_runner(tools=tools, **options)
            async for _ in anthropic.afollow(runner, run):
                pass

    with served(*_moves(turns)) as url:
        asyncio.run(asks(url))


def _moves(turns: list[Any]) -> list[Any]:
    return [calls(*(search(given["query"]) for _, given in each)) for each in turns]


def by_adk(mode: str) -> Asks:
    def asks(run: BreakerRun, words: str, turns: list[Any]) -> None:
        agent = LlmAgent(name="judge", model=replies(*turns), tools=[search_orders])
        asyncio.run(Driven(adk.guarded(agent, run)).go(said(words), mode))

    return asks


FRAMEWORKS: dict[str, Asks] = {
    "openai_agents-run": by_openai_agents("run"),
    "openai_agents-stream": by_openai_agents("stream"),
    "langchain-invoke": by_langchain("invoke"),
    "langchain-astream": by_langchain("astream"),
    "langgraph-invoke": by_langgraph("invoke"),
    "langgraph-ainvoke": by_langgraph("ainvoke"),
    "pydantic_ai-run": by_pydantic_ai("run"),
    "pydantic_ai-iter": by_pydantic_ai("iter"),
    "anthropic-sync": by_anthropic,
    "anthropic-async": by_async_anthropic,
    "adk-whole": by_adk("whole"),
    "adk-stream": by_adk("stream"),
}
framework = pytest.mark.parametrize("asks", FRAMEWORKS.values(), ids=list(FRAMEWORKS))
#: An agent that answers at once, and one that looks something up first.
WORK: dict[str, list[Any]] = {"says": [], "looks": [[("search_orders", {"query": "rules"})]]}
REASONS = {
    "says": Reason.OUTPUT_REPETITION,
    "looks": Reason.REPEATED_INTENT_SAME_OUTCOME,
}
work = pytest.mark.parametrize("kind", list(WORK))


@work
@framework
def test_the_same_about_one_document_after_another(asks: Asks, kind: str) -> None:
    with Breaker().run() as run:
        for number in range(8):
            asks(run, f"Is the following in order? Document {number}: words {number}", WORK[kind])

        assert run.mode is Mode.OPEN


@work
@framework
def test_the_same_about_one_document_again_and_again(asks: Asks, kind: str) -> None:
    def asks_again() -> None:
        for number in (1, 2, 1, 3, 1, 4, 1):
            asks(run, f"Is document {number} in order?", WORK[kind])

    run = Breaker().run()
    with pytest.raises(Interrupted), run:
        asks_again()

    assert run.last_reason is REASONS[kind]
