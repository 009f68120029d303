"""A model writes one call in several ways. For every adapter: what is the same to the tool is the
same to the run, and what is another call to the tool is another to the run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import pytest
from agents import Agent, function_tool
from anthropic import beta_async_tool, beta_tool
from google.adk.agents import LlmAgent
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool, tool
from mcp import Client
from mcp.server import MCPServer
from pydantic import BaseModel, Field, SecretStr, field_validator
from pydantic_ai import Agent as PydanticAgent

from pytest_tripwire.adapters import adk, anthropic, langchain, mcp, openai_agents, pydantic_ai
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted, tool_spec
from pytest_tripwire.timeline import ToolSpec, spec_of

from .adk_shop import Driven, replies, tell
from .anthropic_shop import later
from .langchain_kit import Told, driven, model_of
from .openai_agents_kit import go, script
from .test_adapter_pydantic_ai_run import model as function_model

NEEDS = (
    "anthropic",
    "google-adk",
    "langchain",
    "langgraph",
    "mcp",
    "openai-agents",
    "pydantic-ai-slim",
)

#: Lets an agent make calls of one tool, one after another.
Makes: TypeAlias = Callable[[BreakerRun, Callable[..., Any], list[dict[str, Any]]], None]


def turns_of(function: Any, calls: list[dict[str, Any]]) -> list[list[tuple[str, Any]]]:
    return [[(function.__name__, each)] for each in calls]


def by_openai_agents(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    agent = Agent[None](name="clerk", tools=[function_tool(function, strict_mode=False)])
    agent.model = script(*turns_of(function, calls))
    asyncio.run(go(openai_agents.guarded(agent, run)))


def by_langchain(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    made = [(function.__name__, each) for each in calls]
    guard = langchain.TripwireMiddleware(run)
    agent = create_agent(model_of(*made), [tool(function)], middleware=[Told(), guard])
    driven(agent, {"messages": [("user", "Pay.")]}, "invoke")


def by_pydantic_ai(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    agent = PydanticAgent(
        function_model(*turns_of(function, calls), "Fine."), tools=[function], retries=5
    )
    asyncio.run(agent.run("Pay.", capabilities=[pydantic_ai.Tripwire(run)]))


def by_adk(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    model = replies(*turns_of(function, calls))
    agent = LlmAgent(name="clerk", model=model, tools=[function], on_tool_error_callback=tell)
    asyncio.run(Driven(adk.guarded(agent, run)).go())


def by_anthropic(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    (guarded,) = anthropic.guarded([beta_tool(function)], run)
    for each in calls:
        with suppress(ConnectionError, ValueError):
            guarded.call(each)


def by_anthropic_later(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    (guarded,) = anthropic.guarded([beta_async_tool(later(function))], run)

    async def called() -> None:
        for each in calls:
            with suppress(ConnectionError, ValueError):
                await guarded.call(each)

    asyncio.run(called())


def served(function: Any, *middleware: Any) -> Any:
    server = MCPServer("till", middleware=middleware)
    server.add_tool(function)
    return server


def by_mcp_client(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    async def called() -> None:
        async with Client(served(function)) as client:
            session = mcp.guarded_session(client, run, specs_of(function))
            for each in calls:
                await session.call_tool(function.__name__, each)

    asyncio.run(called())


def by_mcp_server(run: BreakerRun, function: Any, calls: list[dict[str, Any]]) -> None:
    guard = mcp.ServerMiddleware(lambda _context: run, specs_of(function))

    async def called() -> None:
        async with Client(served(function, guard)) as client:
            for each in calls:
                await client.call_tool(function.__name__, each)

    asyncio.run(called())


def specs_of(function: Any) -> dict[str, ToolSpec]:
    spec = spec_of(function)
    assert spec is not None
    return {spec.name: spec}


ADAPTERS: dict[str, Makes] = {
    "openai_agents": by_openai_agents,
    "langchain": by_langchain,
    "pydantic_ai": by_pydantic_ai,
    "adk": by_adk,
    "anthropic": by_anthropic,
    "anthropic async": by_anthropic_later,
    "mcp client": by_mcp_client,
    "mcp server": by_mcp_server,
}
EVERY = pytest.mark.parametrize("makes", ADAPTERS.values(), ids=ADAPTERS)
#: The kit leaves a text a text: its tool is really given another value.
READS_TEXTS = pytest.mark.parametrize(
    "makes",
    [each for name, each in ADAPTERS.items() if name != "adk"],
    ids=[name for name in ADAPTERS if name != "adk"],
)


def payer(paid: list[Any], *, loses: bool = False) -> Callable[..., Any]:
    @tool_spec(effect="write", identity=("order", "account"))
    def pay(order: int, account: str = "main", cents: int = 100) -> str:
        """Pay.

        Args:
            order: Of which order.
            account: From where.
            cents: How much.
        """
        paid.append((order, account, cents))
        if loses:
            raise ConnectionError("no answer")
        return "paid"

    return pay


def made(makes: Makes, function: Callable[..., Any], *calls: dict[str, Any]) -> str:
    """Why the run has ended, if it did not end well: what was lost stays unknown."""
    try:
        with Breaker().run() as run:
            makes(run, function, list(calls))
    except Interrupted as stop:
        return str(stop.reason)
    return ""


@EVERY
@pytest.mark.parametrize("loses", [False, True], ids=["confirmed", "lost"])
def test_a_default_that_is_left_out_and_then_given_is_the_same_call(
    makes: Makes,
    loses: bool,  # noqa: FBT001
) -> None:
    paid: list[Any] = []

    made(
        makes,
        payer(paid, loses=loses),
        {"order": 17},
        {"order": 17, "account": "main"},
        {"cents": 100, "order": 17},
    )

    assert paid == [(17, "main", 100)]


@READS_TEXTS
@pytest.mark.parametrize("loses", [False, True], ids=["confirmed", "lost"])
def test_a_text_that_the_tool_gets_as_a_number_is_the_number(
    makes: Makes,
    loses: bool,  # noqa: FBT001
) -> None:
    paid: list[Any] = []

    made(
        makes, payer(paid, loses=loses), {"order": 17, "cents": 40}, {"order": "17", "cents": "40"}
    )

    assert paid == [(17, "main", 40)]


def test_where_a_framework_reads_no_texts_neither_does_the_run() -> None:
    paid: list[Any] = []

    made(by_adk, payer(paid), {"order": 17}, {"order": "17"})

    assert paid == [(17, "main", 100), ("17", "main", 100)]


@EVERY
def test_what_is_another_call_to_the_tool_is_another_to_the_run(makes: Makes) -> None:
    paid: list[Any] = []

    made(makes, payer(paid), {"order": 17}, {"order": 18}, {"order": 17, "account": "other"})

    assert paid == [(17, "main", 100), (18, "main", 100), (17, "other", 100)]


@EVERY
def test_arguments_that_do_not_fit_are_the_frameworks_and_leave_nothing_unknown(
    makes: Makes,
) -> None:
    paid: list[Any] = []

    reason = made(makes, payer(paid), {"account": "main"}, {"order": 17, "account": "main"})

    assert paid == [(17, "main", 100)]
    assert reason == ""


@EVERY
def test_what_the_breaker_puts_in_reaches_the_tool_beside_the_models_own_words(
    makes: Makes,
) -> None:
    keys: list[Any] = []

    @tool_spec(effect="write", identity=("order",), key_argument="key")
    def send(order: int, key: str = "", parts: int = 1) -> str:
        """Send.

        Args:
            order: Which.
            key: Its own.
            parts: In how many.
        """
        keys.append((order, len(key), parts))
        return "sent"

    made(makes, send, {"order": 17, "parts": 2}, {"order": 17, "parts": 2, "key": "mine"})

    assert [(order, bool(key), parts) for order, key, parts in keys] == [(17, True, 2)]
    assert keys[0][1] > len("mine")


# -- what has no plain form

#: Made anew for each call that is told none.
NUMBERS = iter(range(100))

MODELS = {name: ADAPTERS[name] for name in ("openai_agents", "langchain", "anthropic")}
BY_MODELS = pytest.mark.parametrize("makes", MODELS.values(), ids=MODELS)


@BY_MODELS
def test_one_moment_is_one_moment_however_it_is_written(makes: Makes) -> None:
    booked: list[Any] = []

    @tool_spec(effect="write", identity=("when",))
    def book(when: datetime) -> str:
        """Book."""
        booked.append(when.isoformat())
        return "booked"

    made(
        makes,
        book,
        {"when": "2026-01-01T10:00:00Z"},
        {"when": "2026-01-01T12:00:00+02:00"},
        {"when": "2026-01-01T10:00:01Z"},
    )

    assert booked == ["2026-01-01T10:00:00+00:00", "2026-01-01T10:00:01+00:00"]


@BY_MODELS
def test_two_secrets_are_two_and_no_secret_of_a_default_is_told_to_the_run(makes: Makes) -> None:
    opened: list[str] = []

    @tool_spec(effect="write", identity=("pin",))
    def unlock(pin: SecretStr, master: SecretStr = SecretStr("hunter2")) -> str:  # noqa: B008
        """Unlock."""
        opened.append(pin.get_secret_value() + master.get_secret_value())
        return "open"

    made(makes, unlock, {"pin": "1"}, {"pin": "2"}, {"pin": "2"})

    assert opened == ["1hunter2", "2hunter2"]


@BY_MODELS
def test_what_is_made_anew_for_each_call_makes_no_other_call_of_it(makes: Makes) -> None:
    sent: list[Any] = []

    @tool_spec(effect="write", identity=("order",))
    def send(
        order: int, number: Annotated[int, Field(default_factory=lambda: next(NUMBERS))]
    ) -> str:
        """Send."""
        sent.append(order)
        return "sent"

    made(makes, send, {"order": 17}, {"order": 17})

    assert sent == [17]


class Order(BaseModel):
    """What a tool of the team's own takes."""

    order: str
    lines: list[str] = Field(default_factory=list)

    @field_validator("order", mode="before")
    @classmethod
    def known(cls, value: Any) -> str:
        return str(value).strip().upper()


def test_the_validators_of_a_langchain_tools_own_model_are_heard() -> None:
    sent: list[Any] = []

    @tool_spec(effect="write", identity=("order",))
    def send(order: str, lines: list[str]) -> str:
        """Send."""
        sent.append((order, lines))
        return "sent"

    own = StructuredTool.from_function(send, args_schema=Order)
    calls = [{"order": "a-1"}, {"order": " A-1 ", "lines": []}, {"order": "A-2"}]

    with Breaker().run() as run:
        agent = create_agent(
            model_of(*[("send", each) for each in calls]),
            [own],
            middleware=[langchain.TripwireMiddleware(run)],
        )
        driven(agent, {"messages": [("user", "Send.")]}, "invoke")

    assert sent == [("A-1", []), ("A-2", [])]
