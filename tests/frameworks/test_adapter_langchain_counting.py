"""Which requests of a model a run counts, in agents and in graphs that are built by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ModelRetryMiddleware,
    SummarizationMiddleware,
)
from langchain.agents.structured_output import StructuredOutputValidationError, ToolStrategy
from langchain.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import Runnable
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from pydantic import BaseModel, Field

from pytest_tripwire.adapters.langchain import (
    ModelCounter,
    RunStoppedError,
    TripwireMiddleware,
    guarded_model,
    guarded_tool_node,
)
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget
from pytest_tripwire.timeline import Reason

from .langchain_kit import (
    ASKED,
    PAY,
    ROADS,
    WAYS,
    Model,
    Shop,
    agent_of,
    answers,
    asked,
    by_hand,
    calls,
    driven,
    model_of,
    untraced,  # noqa: F401 - a fixture
)

NEEDS = ("langchain", "langgraph")

USAGE = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
FIND = ("find_payment", {"invoice": "I-1"})
SEARCHES = [("search", {"words": f"{n} words"}) for n in range(4)]


class Spoken(Model):
    """Says what it is told to say, in pieces if it is asked for these."""

    def _stream(self, *_: Any, **__: Any) -> Iterator[ChatGenerationChunk]:
        said = next(self.messages)
        for piece, usage in ((said.content, None), ("", USAGE)):
            yield ChatGenerationChunk(message=AIMessageChunk(piece, usage_metadata=usage))


def spoken(n: int) -> Any:
    """A model that says so many things."""
    return Spoken(messages=iter([AIMessage(f"{i}.", usage_metadata=USAGE) for i in range(n)]))


def asked_by(model: Any) -> Any:
    """A graph of nothing but a model."""

    def ask(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_edge(START, "model")
    return graph.compile()


def spent(run: Any, name: str) -> Any:
    (line,) = [each for each in run.budgets() if name in each.name]
    return line.spent


# -- a stop ends the agent


@pytest.mark.parametrize("counts", ["counts", "does not count"])
@pytest.mark.parametrize("way", WAYS)
def test_a_stop_ends_the_agent_whoever_counts(way: str, counts: str) -> None:
    run, shop = Breaker().run(), Shop()
    run.interrupt("Off.")
    told = agent_of(run, shop, *[FIND] * 3, count_model=counts == "counts")

    ended = driven(told, ASKED, way)

    assert len(ended["messages"]) == 2
    assert ended["messages"][-1].text


@pytest.mark.parametrize("way", WAYS)
def test_a_stop_at_the_deadline_ends_an_agent_that_does_not_count(way: str) -> None:
    clock = Clock()
    run = Breaker(budget=RunBudget(deadline_s=5.0), clock=clock).run()
    agent = agent_of(run, Shop(), *[FIND] * 3, count_model=False)
    clock.at = 6.0

    ended = driven(agent, ASKED, way)

    assert len(ended["messages"]) == 2
    assert run.last_reason == Reason.DEADLINE


class Clock:
    """Stands still but for the test."""

    at = 0.0

    def now(self) -> float:
        return self.at


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_may_only_read_asks_its_model_on(way: str) -> None:
    run, shop = Breaker().run(), Shop(ConnectionError("lost"))
    del shop.tools[1]
    with pytest.raises(ConnectionError):
        driven(agent_of(run, shop, ("pay", PAY), count_model=False), ASKED, way)

    ended = driven(agent_of(run, shop, ("pay", PAY), count_model=False), ASKED, way)

    assert answers(ended)[-1]["reason"] == "unknown_side_effect"
    assert ended["messages"][-1].text == "Done."


class Answer(BaseModel):
    """What is wanted of the model."""

    total: int


@pytest.mark.parametrize("counts", ["counts", "does not count"])
@pytest.mark.parametrize("way", WAYS)
def test_a_stop_ends_an_agent_that_owes_a_structured_answer(way: str, counts: str) -> None:
    run = Breaker().run()
    run.interrupt("Off.")
    guard = TripwireMiddleware(run, count_model=counts == "counts")
    agent = create_agent(spoken(9), [], middleware=[guard], response_format=ToolStrategy(Answer))

    ended = driven(agent, ASKED, way, {"recursion_limit": 8})

    assert len(ended["messages"]) == 2
    assert ended.get("structured_response") is None


# -- requests beside the agent's own


@pytest.mark.parametrize("way", WAYS)
def test_a_request_whose_answer_does_not_fit_is_paid_for(way: str) -> None:
    run = Breaker(budget=RunBudget(max_tokens=100_000)).run()
    model = model_of(("Answer", {"total": "many"}), usage=USAGE)
    strategy = ToolStrategy(Answer, handle_errors=False)
    agent = create_agent(model, [], middleware=[TripwireMiddleware(run)], response_format=strategy)

    with pytest.raises(StructuredOutputValidationError):
        driven(agent, ASKED, way)

    assert (run.stats().turns, spent(run, "token")) == (1, 1100)


TALK = {"messages": [("user", "a"), ("ai", "b"), ("user", "c")]}


def summing(model: Any) -> Any:
    return SummarizationMiddleware(model, trigger=("messages", 2), keep=("messages", 1))


@pytest.mark.parametrize("way", WAYS)
def test_the_requests_of_a_middleware_are_counted_by_its_own_model(way: str) -> None:
    run = Breaker(budget=RunBudget(max_tokens=100_000)).run()
    model = spoken(9)
    middleware = [summing(guarded_model(model, run))]
    agent = agent_of(run, Shop(), model=model_of(FIND, usage=USAGE), middleware=middleware)

    driven(agent, TALK, way)

    summaries = 9 - len(list(model.messages))
    assert summaries
    assert run.stats().turns == 2 + summaries


@pytest.mark.parametrize("way", WAYS)
def test_a_middleware_whose_model_may_not_be_asked_ends_the_agent_at_once(
    way: str, caplog: pytest.LogCaptureFixture
) -> None:
    run = Breaker().run()
    run.interrupt("Off.")
    model = spoken(9)
    agent = agent_of(run, Shop(), FIND, middleware=[summing(guarded_model(model, run))])

    with pytest.raises(RunStoppedError, match="cancelled"):
        driven(agent, TALK, way)

    assert len(list(model.messages)) == 9
    # The framework logs each refusal: that middleware retries whatever may pass.
    assert len([each for each in caplog.messages if "ModelCounter" in each]) == 1


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_that_raises_after_the_answer_leaves_the_request_paid(way: str) -> None:
    class Broken(AgentMiddleware):
        def after_model(self, state: Any, runtime: Any) -> None:
            raise LookupError("hook")

    run = Breaker(budget=RunBudget(max_tokens=100_000)).run()

    with pytest.raises(LookupError, match="hook"):
        driven(agent_of(run, Shop(), model=spoken(1), middleware=[Broken()]), ASKED, way)

    assert (run.stats().turns, spent(run, "token")) == (1, 1100)


@pytest.mark.parametrize("way", WAYS)
def test_a_middleware_that_retries_the_model_counts_each_try_and_no_refusal(way: str) -> None:
    def said() -> Iterator[Any]:
        yield from ()
        raise ConnectionRefusedError("down")

    run = Breaker(budget=RunBudget(max_turns=2)).run()
    retry = ModelRetryMiddleware(max_retries=5, initial_delay=0, jitter=False)
    agent = agent_of(run, Shop(), model=Broken(messages=said()), middleware=[retry])

    ended = driven(agent, ASKED, way)

    assert run.last_reason == Reason.TURN_BUDGET
    assert run.stats().turns == 2
    assert len(ended["messages"]) == 2


class Broken(Model):
    """A model that is down."""

    def _generate(self, *_: Any, **__: Any) -> Any:
        raise ConnectionRefusedError("down")


# -- graphs that are built by hand


@pytest.mark.parametrize("road", ROADS)
def test_a_model_in_a_graph_by_hand_is_counted_and_paid_for(road: str) -> None:
    run = Breaker(budget=RunBudget(max_tokens=100_000, max_turns=2)).run()
    model = guarded_model(spoken(3), run)

    for _ in range(2):
        asked(model, road)
    with pytest.raises(RunStoppedError):
        asked(model, road)

    assert run.stats().turns == 2
    assert run.last_reason == Reason.TURN_BUDGET
    assert spent(run, "token") == 2200


@pytest.mark.parametrize("way", WAYS)
def test_a_loop_by_hand_is_stopped_at_its_turns_and_the_run_says_why(way: str) -> None:
    run, shop = Breaker(budget=RunBudget(max_turns=2)).run(), Shop()
    model = guarded_model(model_of(FIND, ("search", {"words": "a"}), ("pay", PAY)), run)
    graph = by_hand(guarded_tool_node(shop.tools, run), model=model)

    with pytest.raises(Interrupted) as caught, run:
        driven(graph, ASKED, way)

    assert caught.value.reason == Reason.TURN_BUDGET
    assert isinstance(caught.value.__cause__, RunStoppedError)
    assert shop.paid == []


@pytest.mark.parametrize("way", ROADS)
def test_a_node_that_swallows_the_stop_gets_nothing_done_after_it(way: str) -> None:
    run, shop = Breaker(budget=RunBudget(max_turns=1)).run(), Shop()
    model = guarded_model(model_of(FIND), run)

    def insist(state: MessagesState) -> Any:
        if len(state["messages"]) > 4:
            return {"messages": [AIMessage("Done.")]}
        try:
            return {"messages": [model.invoke(state["messages"])]}
        except RunStoppedError:
            return {"messages": [calls(("pay", PAY), turn=2)]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", insist)
    graph.add_node("tools", guarded_tool_node(shop.tools, run, handle_tool_errors=True))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")

    found = answers(driven(graph.compile(), ASKED, way))

    assert shop.paid == []
    assert found[-1]["reason"] == "turn_budget"


@pytest.mark.parametrize("way", WAYS)
def test_every_model_of_a_graph_is_counted_by_the_callback(way: str) -> None:
    run = Breaker(budget=RunBudget(max_turns=1)).run()
    graph = asked_by(spoken(3))
    counted = {"callbacks": [ModelCounter(run)]}

    driven(graph, ASKED, way, counted)
    with pytest.raises(RunStoppedError):
        driven(graph, ASKED, way, counted)

    assert run.stats().turns == 1


@pytest.mark.parametrize("way", WAYS)
def test_whoever_counts_beside_another_counts_nothing_twice(way: str) -> None:
    run, shop = Breaker().run(), Shop()
    agent = agent_of(run, shop, model=guarded_model(guarded_model(model_of(FIND), run), run))

    driven(agent, ASKED, way, {"callbacks": [ModelCounter(run)]})

    assert run.stats().turns == 2


def test_two_runs_that_share_a_model_count_for_themselves() -> None:
    one, other, model = Breaker().run(), Breaker().run(), spoken(1)

    guarded_model(guarded_model(model, one), other).invoke("x")

    assert (one.stats().turns, other.stats().turns) == (1, 1)
    assert model.callbacks is None


@pytest.mark.parametrize("road", ROADS)
def test_a_request_that_fails_gives_back_what_it_held(road: str) -> None:
    run = Breaker(budget=RunBudget(max_model_cost_usd=Decimal(1)), prices={"m": (100, 100)}).run()
    answer = calls(FIND, turn=1, usage=USAGE)
    answer.response_metadata["model_name"] = "m"
    guarded_model(Model(messages=iter([answer])), run).invoke("x")

    with pytest.raises(ConnectionRefusedError):
        asked(guarded_model(Down(messages=iter([])), run), road)

    (line,) = run.budgets()
    assert (line.spent, line.remaining) == pytest.approx((0.11, 0.89))


class Down(Broken):
    """A model that is down, for whoever streams too."""

    def _stream(self, *_: Any, **__: Any) -> Any:
        raise ConnectionRefusedError("down")


def test_a_request_that_is_cut_off_may_have_cost_something() -> None:
    run = Breaker(budget=RunBudget(max_model_cost_usd=Decimal(1))).run()

    async def left() -> None:
        model = Endless(messages=iter([]))
        task = asyncio.create_task(agent_of(run, Shop(), model=model).ainvoke(ASKED))
        await model.begun.wait()
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(left())

    assert run.last_reason == Reason.COST_UNKNOWN


class Endless(Model):
    """A model that never answers."""

    begun: asyncio.Event = Field(default_factory=asyncio.Event)

    async def _agenerate(self, *_: Any, **__: Any) -> Any:
        self.begun.set()
        await asyncio.Event().wait()


def test_a_stream_that_is_left_early_may_have_cost_something() -> None:
    run = Breaker(budget=RunBudget(max_model_cost_usd=Decimal(1))).run()
    stream = guarded_model(spoken(1), run).stream("x")

    next(stream)
    stream.close()

    assert run.last_reason == Reason.COST_UNKNOWN


class Configurable(Runnable[Any, Any]):
    """A model that is made when it is asked; the framework's own is no chat model either."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def bind_tools(self, _tools: Any, **_: Any) -> Any:
        return self

    def invoke(self, given: Any, config: Any = None, **_: Any) -> Any:
        return self.model.invoke(given, config)

    async def ainvoke(self, given: Any, config: Any = None, **_: Any) -> Any:
        return await self.model.ainvoke(given, config)


@pytest.mark.parametrize("tools", ["with tools", "without"])
@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_made_when_it_is_asked_is_counted(way: str, tools: str) -> None:
    run, shop = Breaker().run(), Shop()
    guard = TripwireMiddleware(run)
    given = shop.tools if tools == "with tools" else []

    driven(create_agent(Configurable(spoken(1)), given, middleware=[guard]), ASKED, way)

    assert run.stats().turns == 1


def test_what_is_no_chat_model_is_named() -> None:
    with pytest.raises(TypeError, match="a str is no chat model"):
        guarded_model("openai:gpt", Breaker().run())
