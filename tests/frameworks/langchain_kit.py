"""A shop, its model and its agents, for the tests of LangChain's form for production."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.messages import AIMessage, ToolMessage
from langchain.tools import tool
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.runnables import RunnableLambda
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langsmith import tracing_context

from pytest_tripwire.adapters.langchain import TripwireMiddleware
from pytest_tripwire.breaker import tool_spec

WAYS = ("invoke", "ainvoke")
#: All of them, for what must hold while it is streamed too.
ROADS = (*WAYS, "stream", "astream")
ASKED = {"messages": [("user", "Pay the invoice.")]}
PAY: dict[str, Any] = {"invoice": "I-1", "euros": 40}


@pytest.fixture(autouse=True)
def untraced() -> Iterator[None]:
    # Whatever the environment says, a scripted run is nobody's trace.
    with tracing_context(enabled=False):
        yield


class Model(GenericFakeChatModel):
    """Says what it was told to say, whatever tools it has."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


def calls(*made: tuple[str, dict[str, Any]], turn: int, usage: Any = None) -> Any:
    named = [
        {"name": name, "args": args, "id": f"c{turn}.{n}"} for n, (name, args) in enumerate(made)
    ]
    return AIMessage("", tool_calls=named, usage_metadata=usage)


def model_of(*turns: Any, usage: Any = None) -> Any:
    """A model that makes these calls turn by turn, then speaks, and does not end."""

    def said() -> Iterator[Any]:
        for n, each in enumerate(turns, 1):
            made = each if isinstance(each, list) else [each]
            yield calls(*made, turn=n, usage=usage)
        while True:
            yield AIMessage("Done.")

    return Model(messages=said())


def driven(graph: Any, given: Any, way: str, config: Any = None) -> Any:
    """The state that a graph ends in, by one of the four ways to ask it."""
    if way == "invoke":
        return graph.invoke(given, config)
    if way == "stream":
        return list(graph.stream(given, config, stream_mode="values"))[-1]
    if way == "ainvoke":
        return asyncio.run(graph.ainvoke(given, config))

    async def streamed() -> Any:
        return [each async for each in graph.astream(given, config, stream_mode="values")][-1]

    return asyncio.run(streamed())


def asked(model: Any, road: str) -> Any:
    """A model's answer, on one road or another."""
    if road == "invoke":
        return model.invoke("x")
    if road == "ainvoke":
        return asyncio.run(model.ainvoke("x"))
    if road == "stream":
        return list(model.stream("x"))

    async def streamed() -> Any:
        return [each async for each in model.astream("x")]

    return asyncio.run(streamed())


def answers(ended: Any) -> list[Any]:
    """What the model was shown of its calls, read as JSON where it is."""
    texts = [each.text for each in ended["messages"] if isinstance(each, ToolMessage)]
    return [json.loads(each) if each.startswith("{") else each for each in texts]


class Shop:
    """Payments that were really made, and the tools that make them."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.paid: list[str] = []
        self.fails = fails

        @tool
        @tool_spec(effect="write", identity=("invoice",), reconcile="find_payment")
        def pay(invoice: str, euros: int) -> dict[str, Any]:
            """Pay an invoice."""
            self.paid.append(invoice)
            if self.fails is not None:
                raise self.fails
            return {"payment_id": f"P-{len(self.paid)}", "invoice": invoice}

        @tool
        @tool_spec(effect="read")
        def find_payment(invoice: str) -> dict[str, Any]:
            """Look a payment up."""
            return {"payment_id": "P-1", "invoice": invoice} if invoice in self.paid else {}

        @tool
        @tool_spec(effect="read", wording=("words",))
        def search(words: str) -> dict[str, Any]:
            """Search."""
            return {"found": []}

        self.pay, self.find, self.search = pay, find_payment, search
        self.tools = [pay, find_payment, search]


class Told(AgentMiddleware):
    """What a tool raises ends the run; this tells the model."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except ConnectionError as error:
            return ToolMessage(f"{error}", tool_call_id=request.tool_call["id"], status="error")

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ConnectionError as error:
            return ToolMessage(f"{error}", tool_call_id=request.tool_call["id"], status="error")


def agent_of(run: Any, shop: Shop, *turns: Any, middleware: Any = (), **options: Any) -> Any:
    mine = {name: options.pop(name) for name in ("specs", "ask", "count_model") if name in options}
    guard = TripwireMiddleware(run, **mine)
    tools = options.pop("tools", shop.tools)
    model = options.pop("model", None) or model_of(*turns)
    return create_agent(model, tools, middleware=[*middleware, guard], name="cashier", **options)


def by_hand(node: Any, *turns: Any, model: Any = None, **options: Any) -> Any:
    """A graph of a model, which makes these calls, and a node that carries them out."""
    model = model or model_of(*turns)

    def ask(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def ask_later(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", RunnableLambda(ask, ask_later))
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(**options)
