"""Teams whose agents of LangChain's bring their own protection to the cases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.messages import ToolMessage

from pytest_tripwire import Task
from pytest_tripwire.adapters.langchain import (
    TripwireMiddleware,
    guarded_model,
    guarded_tool_node,
)
from pytest_tripwire.breaker import Breaker, ToolSpec
from pytest_tripwire.timeline import Effect

from .langchain_kit import by_hand


def spec(name: str, effect: Effect, **fields: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        effect=effect,
        definite_failures=("NotAcceptedError", "RateLimitedError", "UnknownRecordError"),
        denials=("PolicyDeniedError",),
        **fields,
    )


REFUND: dict[str, Any] = {"operation": "refund", "identity": ("order_id",)}
SPECS = [
    spec("search_articles", Effect.READ, identity=("topic",), wording=("query",)),
    spec("issue_refund", Effect.WRITE, wording=("reason",), result_id="refund_id", **REFUND),
    spec("issue_credit", Effect.WRITE, wording=("note",), result_id="refund_id", **REFUND),
    spec("get_refund", Effect.READ, identity=("order_id",)),
    spec("get_order", Effect.READ, identity=("order_id",), result_version="version"),
    spec(
        "hand_over",
        Effect.HANDOFF,
        identity=("to", "order_id"),
        wording=("note",),
        required_fields=("findings",),
    ),
]


class Everything(AgentMiddleware):
    """What a tool raises ends the run; this tells the model."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except Exception as error:  # noqa: BLE001 - whatever it is
            return ToolMessage(f"{error}", tool_call_id=request.tool_call["id"], status="error")

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - whatever it is
            return ToolMessage(f"{error}", tool_call_id=request.tool_call["id"], status="error")


def breaker_of(task: Task) -> Breaker:
    """The agent's own breaker, on the task's limits and clock."""
    each = task.token_price_usd * 1_000_000
    return Breaker(
        budget=task.limits,
        clock=task.clock,
        specs={each.name: each for each in SPECS},
        prices={task.model.name: (each, each)},
    )


def agent_for(task: Task, run: Any, **options: Any) -> Any:
    """An agent that has the middleware, and tools that nobody else guards."""
    guard = [Everything(), TripwireMiddleware(run)]
    return create_agent(task.model.langchain(), task.tools.langchain(), middleware=guard, **options)


def graph_for(task: Task, run: Any, **options: Any) -> Any:
    """The same built by hand: a model that counts, and a node that asks the run."""
    tools = task.tools.langchain()
    model = guarded_model(task.model.langchain(), run).bind_tools(tools)
    node = guarded_tool_node(tools, run, handle_tool_errors=True)
    return by_hand(node, model=model, **options)


def talked(graph: Any, said: str, way: str, thread: str = "") -> str:
    """What the agent says in the end."""
    asked: Any = {"messages": [("user", said)]}
    config: Any = {"recursion_limit": 150, "configurable": {"thread_id": thread}}
    modes: Any = ["values", "messages"]

    async def later() -> Any:
        if way == "ainvoke":
            return await graph.ainvoke(asked, config)
        parts = graph.astream(asked, config, stream_mode=modes)
        return [each async for mode, each in parts if mode == "values"][-1]

    if way.startswith("a"):
        ended = asyncio.run(later())
    elif way == "invoke":
        ended = graph.invoke(asked, config)
    else:
        parts = graph.stream(asked, config, stream_mode=modes)
        ended = [each for mode, each in parts if mode == "values"][-1]
    return str(ended["messages"][-1].text)


class Guarded:
    """An agent that brings its own protection."""

    def __init__(self, way: str, build: Callable[..., Any] = agent_for) -> None:
        self.way, self.build = way, build
        self.runs: list[Any] = []

    def __call__(self, task: Task) -> str:
        run = breaker_of(task).run()
        self.runs.append(run)
        with run:
            return talked(self.build(task, run), task.prompt, self.way)
