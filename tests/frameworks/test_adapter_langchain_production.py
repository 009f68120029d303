"""The breaker in LangChain's agents and LangGraph's graphs, in the form for production."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from decimal import Decimal
from threading import Event as Flag
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain.messages import AIMessage, ToolMessage
from langchain.tools import ToolRuntime, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from pytest_tripwire.adapters.langchain import TripwireMiddleware, guarded_tool_node
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, ToolSpec, tool_spec
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.timeline import Decided, Effect, Mode, Reason, Settled, Status

from .langchain_kit import (
    ASKED,
    PAY,
    ROADS,
    WAYS,
    Model,
    Shop,
    Told,
    agent_of,
    answers,
    by_hand,
    calls,
    driven,
    model_of,
    untraced,  # noqa: F401 - a fixture
)

NEEDS = ("langchain", "langgraph")

Runs = Callable[..., Any]


@pytest.fixture
def runs() -> Runs:
    return lambda **options: Breaker(**options).run()


# -- calls


@pytest.mark.parametrize("way", ROADS)
def test_a_confirmed_write_is_made_once(runs: Runs, way: str) -> None:
    shop, run = Shop(), runs()

    ended = driven(agent_of(run, shop, ("pay", PAY), ("pay", PAY)), ASKED, way)

    first, second = answers(ended)
    assert shop.paid == ["I-1"]
    assert first == {"payment_id": "P-1", "invoice": "I-1"}
    assert (second["refused"], second["reason"]) == (True, "duplicate_write")


@pytest.mark.parametrize("way", WAYS)
def test_the_breaker_hears_the_frameworks_own_names_of_calls(way: str) -> None:
    heard: list[Any] = []
    run = Breaker(on_event=heard.append).run()

    driven(agent_of(run, Shop(), ("pay", PAY)), ASKED, way)

    decided = [each for each in heard if isinstance(each, Decided)]
    assert [(each.call_id, each.tool) for each in decided] == [("c1.0", "pay")]


@pytest.mark.parametrize("way", ROADS)
def test_what_a_tool_raises_comes_out_and_its_outcome_is_unknown(runs: Runs, way: str) -> None:
    shop, run = Shop(ConnectionError("lost")), runs()

    with pytest.raises(ConnectionError, match="lost"):
        driven(agent_of(run, shop, ("pay", PAY)), ASKED, way)

    with pytest.raises(Interrupted) as caught, run:
        pass
    assert caught.value.reason == Reason.UNKNOWN_SIDE_EFFECT


@pytest.mark.parametrize("way", WAYS)
def test_a_lost_write_is_reconciled_by_the_agents_own_read(runs: Runs, way: str) -> None:
    shop, run = Shop(ConnectionError("lost")), runs()
    agent = agent_of(run, shop, ("pay", PAY), ("pay", PAY), middleware=[Told()])

    _, second = answers(driven(agent, ASKED, way))

    assert shop.paid == ["I-1"]
    assert second["reason"] == "duplicate_write"
    assert "P-1" in second["message"]


@pytest.mark.parametrize("way", WAYS)
def test_a_middleware_that_retries_writes_is_held_at_the_second_try(runs: Runs, way: str) -> None:
    shop, run = Shop(ConnectionError("lost")), runs()
    retry = ToolRetryMiddleware(max_retries=3, initial_delay=0, on_failure="continue")

    driven(agent_of(run, shop, ("pay", PAY), middleware=[retry]), ASKED, way)

    assert shop.paid == ["I-1"]


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_that_raises_before_the_call_lets_nothing_run(runs: Runs, way: str) -> None:
    class Broken(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            raise LookupError("hook")

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            raise LookupError("hook")

    shop, run = Shop(), runs()

    with pytest.raises(LookupError, match="hook"):
        driven(agent_of(run, shop, ("pay", PAY), middleware=[Broken()]), ASKED, way)

    assert shop.paid == []
    assert run.close() is None


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_that_raises_after_the_call_leaves_a_write_that_is_known(
    runs: Runs, way: str
) -> None:
    class Broken(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            handler(request)
            raise LookupError("hook")

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            await handler(request)
            raise LookupError("hook")

    shop, run = Shop(), runs()

    with pytest.raises(LookupError, match="hook"):
        driven(agent_of(run, shop, ("pay", PAY), middleware=[Broken()]), ASKED, way)
    (again,) = answers(driven(agent_of(run, shop, ("pay", PAY)), ASKED, way))

    assert shop.paid == ["I-1"]
    assert again["reason"] == "duplicate_write"
    assert run.close() is None


def test_an_observer_that_raises_changes_nothing() -> None:
    def broken(_: Any) -> None:
        raise LookupError("observer")

    shop = Shop()
    run = Breaker(on_event=broken).run()

    driven(agent_of(run, shop, ("pay", PAY), ("pay", PAY)), ASKED, "invoke")

    assert shop.paid == ["I-1"]


@pytest.mark.parametrize("way", WAYS)
def test_arguments_that_do_not_fit_are_told_and_hold_nothing_back(way: str) -> None:
    heard: list[Any] = []
    shop = Shop()
    run = Breaker(on_event=heard.append, budget=RunBudget(max_side_effects=1)).run()
    wrong = ("pay", {"invoice": "I-1", "euros": "many"})

    first, second = answers(driven(agent_of(run, shop, wrong, ("pay", PAY)), ASKED, way))

    assert "euros" in first
    assert second["payment_id"] == "P-1"
    settled = [each.status for each in heard if isinstance(each, Settled)]
    assert settled == [Status.DEFINITE, Status.OK]


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_nobody_declared_stops_the_agent_before_it_asks_its_model(
    runs: Runs, way: str
) -> None:
    asked: list[str] = []

    @tool
    def unheard(text: str) -> str:
        """Do something."""
        asked.append(text)
        return text

    agent = agent_of(runs(), Shop(), ("unheard", {"text": "x"}), tools=[unheard])

    with pytest.raises(UndeclaredToolError, match="unheard"):
        driven(agent, ASKED, way)
    assert asked == []


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_is_not_there_is_refused(runs: Runs, way: str) -> None:
    (answer,) = answers(driven(agent_of(runs(), Shop(), ("fly", {})), ASKED, way))

    assert (answer["refused"], answer["reason"]) == (True, "invalid_arguments")


@pytest.mark.parametrize("way", WAYS)
def test_a_fruitless_search_comes_with_a_hint_and_then_ends(runs: Runs, way: str) -> None:
    shop, run = Shop(), runs()
    again = [("search", {"words": f"{n} words"}) for n in range(5)]

    found = answers(driven(agent_of(run, shop, *again), ASKED, way))

    assert found[0] == {"found": []}
    assert "tripwire_hint" in found[1]
    assert found[1]["found"] == []
    assert [each.get("refused", False) for each in found] == [False, False, False, True]
    assert run.mode is not Mode.OPEN


@pytest.mark.parametrize("way", WAYS)
def test_a_write_gets_the_breakers_own_key(runs: Runs, way: str) -> None:
    keys: list[str] = []

    @tool
    def send(to: str, key: str = "") -> str:
        """Send."""
        keys.append(key)
        return "sent"

    spec = ToolSpec(name="send", effect=Effect.WRITE, identity=("to",), key_argument="key")
    agent = agent_of(
        runs(), Shop(), ("send", {"to": "a", "key": "forged"}), tools=[send], specs={"send": spec}
    )

    driven(agent, ASKED, way)

    assert len(keys) == 1
    assert keys[0] not in ("", "forged")


@pytest.mark.parametrize("way", WAYS)
def test_what_the_framework_puts_into_a_call_still_gets_there(runs: Runs, way: str) -> None:
    seen: list[Any] = []

    @tool
    @tool_spec(effect="read")
    def look(order: str, runtime: ToolRuntime) -> str:
        """Look."""
        seen.append((order, runtime.tool_call_id, len(runtime.state["messages"])))
        return "here"

    driven(agent_of(runs(), Shop(), ("look", {"order": "A"}), tools=[look]), ASKED, way)

    assert seen == [("A", "c1.0", 2)]


# -- calls of one message, and the stop


@pytest.mark.parametrize("way", WAYS)
def test_of_the_same_write_twice_in_one_message_one_is_made(runs: Runs, way: str) -> None:
    shop, run = Shop(), runs()

    found = answers(driven(agent_of(run, shop, [("pay", PAY), ("pay", PAY)]), ASKED, way))

    assert shop.paid == ["I-1"]
    assert sorted(each.get("refused", False) for each in found) == [False, True]


def test_a_sibling_that_is_under_way_at_the_stop_ends_and_nothing_is_begun_after_it(
    runs: Runs,
) -> None:
    run, shop = runs(), Shop()
    begun, stopped = Flag(), Flag()

    @tool
    @tool_spec(effect="read")
    def slow() -> str:
        """Take long."""
        begun.set()
        assert stopped.wait(10)
        return "slow"

    @tool
    @tool_spec(effect="read")
    def stop() -> str:
        """Stop everything."""
        assert begun.wait(10)
        run.interrupt("Somebody has pulled the plug.")
        stopped.set()
        return "stopped"

    class Held(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            assert request.tool_call["name"] != "pay" or stopped.wait(10)
            return handler(request)

    agent = agent_of(
        run,
        shop,
        [("slow", {}), ("stop", {}), ("pay", PAY)],
        tools=[slow, stop, *shop.tools],
        middleware=[Held()],
    )

    found = answers(driven(agent, ASKED, "invoke"))

    assert found[:2] == ["slow", "stopped"]
    assert found[2]["reason"] == "cancelled"
    assert shop.paid == []


def test_a_task_that_is_under_way_at_the_stop_ends_and_nothing_is_begun_after_it(
    runs: Runs,
) -> None:
    run, shop = runs(), Shop()
    begun, stopped = asyncio.Event(), asyncio.Event()

    @tool
    @tool_spec(effect="read")
    async def slow() -> str:
        """Take long."""
        begun.set()
        await stopped.wait()
        return "slow"

    @tool
    @tool_spec(effect="read")
    async def stop() -> str:
        """Stop everything."""
        await begun.wait()
        run.interrupt("Somebody has pulled the plug.")
        stopped.set()
        return "stopped"

    class Held(AgentMiddleware):
        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            if request.tool_call["name"] == "pay":
                await stopped.wait()
            return await handler(request)

    made = [("slow", {}), ("stop", {}), ("pay", PAY)]
    tools = [slow, stop, *shop.tools]

    found = answers(
        driven(agent_of(run, shop, made, tools=tools, middleware=[Held()]), ASKED, "ainvoke")
    )

    assert found[:2] == ["slow", "stopped"]
    assert found[2]["reason"] == "cancelled"
    assert shop.paid == []


def test_a_write_that_is_cut_off_may_have_happened(runs: Runs) -> None:
    run, begun = runs(), asyncio.Event()

    @tool
    @tool_spec(effect="write", identity=("invoice",))
    async def pay(invoice: str, euros: int) -> str:
        """Pay an invoice."""
        begun.set()
        await asyncio.Event().wait()
        return "paid"

    async def left() -> None:
        agent = agent_of(run, Shop(), ("pay", PAY), tools=[pay])
        task = asyncio.create_task(agent.ainvoke(ASKED))
        await begun.wait()
        task.cancel()
        await task

    with pytest.raises(Interrupted) as caught, run:
        asyncio.run(left())

    assert caught.value.reason == Reason.UNKNOWN_SIDE_EFFECT
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


@pytest.mark.parametrize("way", ROADS)
def test_a_stopped_run_asks_the_model_no_more(runs: Runs, way: str) -> None:
    run, shop = runs(budget=RunBudget(max_turns=2)), Shop()
    loop = [("search", {"words": "a"}), ("find_payment", {"invoice": "I-1"}), ("pay", PAY)]

    ended = driven(agent_of(run, shop, *loop), ASKED, way)

    assert run.last_reason == Reason.TURN_BUDGET
    assert shop.paid == []
    assert len([e for e in ended["messages"] if isinstance(e, AIMessage)]) == 3


# -- the model's side


USAGE = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}


@pytest.mark.parametrize("way", WAYS)
def test_usage_is_paid_for(runs: Runs, way: str) -> None:
    run = runs(budget=RunBudget(max_tokens=100_000))
    model = model_of(("find_payment", {"invoice": "I-1"}), usage=USAGE)

    driven(agent_of(run, Shop(), model=model), ASKED, way)

    assert run.stats().turns == 2
    (line,) = [each for each in run.budgets() if "token" in each.name]
    assert line.spent == 1100


@pytest.mark.parametrize("way", WAYS)
def test_a_cost_that_nobody_knows_is_not_nothing(runs: Runs, way: str) -> None:
    run = runs(budget=RunBudget(max_model_cost_usd=Decimal(1)))
    loop = [("find_payment", {"invoice": "I-1"}), ("pay", PAY)]

    driven(agent_of(run, Shop(), *loop), ASKED, way)

    assert run.last_reason == Reason.COST_UNKNOWN


@pytest.mark.parametrize("way", WAYS)
def test_a_request_that_fails_gives_back_what_it_held(runs: Runs, way: str) -> None:
    def said() -> Iterator[Any]:
        first = calls(("find_payment", {"invoice": "I-1"}), turn=1, usage=USAGE)
        first.response_metadata["model_name"] = "m"
        yield first
        raise ConnectionRefusedError("down")

    run = runs(budget=RunBudget(max_model_cost_usd=Decimal(1)), prices={"m": (100, 100)})

    with pytest.raises(ConnectionRefusedError, match="down"):
        driven(agent_of(run, Shop(), model=Model(messages=said())), ASKED, way)

    (line,) = run.budgets()
    assert (line.spent, line.remaining) == pytest.approx((0.11, 0.89))


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_the_provider_runs_is_an_error_unless_it_is_named(runs: Runs, way: str) -> None:
    def agent(**options: Any) -> Any:
        guard = TripwireMiddleware(runs(), **options)
        return create_agent(model_of(), [{"type": "web_search"}], middleware=[guard])

    with pytest.raises(TypeError, match="'web_search' is run by the model's provider"):
        driven(agent(), ASKED, way)
    ended = driven(agent(unguarded=["web_search"]), ASKED, way)
    assert ended["messages"][-1].text == "Done."


# -- hand-offs


def pair(run: Any, rounds: int) -> Any:
    """Two agents that hand over to each other and do nothing else."""

    def to(name: str) -> Any:
        @tool(f"transfer_to_{name}")
        def transfer(runtime: ToolRuntime) -> Command:
            """Hand over."""
            said = ToolMessage("Handed over.", tool_call_id=runtime.tool_call_id)
            update = {"messages": [runtime.state["messages"][-1], said]}
            return Command(goto=name, graph=Command.PARENT, update=update)

        return transfer

    graph = StateGraph(MessagesState)
    for own, other in (("sales", "support"), ("support", "sales")):
        turns = [(f"transfer_to_{other}", {})] * rounds
        agent = create_agent(
            model_of(*turns),
            [to(other)],
            name=own,
            middleware=[TripwireMiddleware(run, count_model=False)],
        )
        graph.add_node(own, agent)
    graph.add_edge(START, "sales")
    return graph.compile()


@pytest.mark.parametrize("way", ROADS)
def test_hand_offs_are_told_apart_by_themselves_and_their_ping_pong_ends(
    runs: Runs, way: str
) -> None:
    run = runs()

    ended = driven(pair(run, 20), ASKED, way, {"recursion_limit": 60})

    assert run.last_reason == Reason.HANDOFF_WITHOUT_PROGRESS
    moved = [each == "Handed over." for each in answers(ended)]
    assert 2 <= moved.count(True) <= 6
    assert moved == sorted(moved, reverse=True)


# -- states that are resumed


def at(graph: Any, thread: Any) -> Any:
    """The thread as it stands now, to be resumed as often as one likes."""
    return graph.get_state(thread).config


THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}


@pytest.mark.parametrize("way", ROADS)
def test_one_state_that_is_resumed_twice_writes_once(runs: Runs, way: str) -> None:
    run, shop = runs(), Shop()
    agent = agent_of(
        run, shop, ("pay", PAY), checkpointer=InMemorySaver(), interrupt_before=["tools"]
    )
    driven(agent, ASKED, way, THREAD)
    saved = at(agent, THREAD)

    once, twice = driven(agent, None, way, saved), driven(agent, None, way, saved)

    assert shop.paid == ["I-1"]
    assert answers(once) == [{"payment_id": "P-1", "invoice": "I-1"}]
    assert answers(twice)[0]["reason"] == "duplicate_write"


@pytest.mark.parametrize("way", ROADS)
def test_one_state_that_is_resumed_in_two_runs_of_one_piece_of_work_writes_once(way: str) -> None:
    shop, breaker, kept = Shop(), Breaker(), InMemorySaver()
    piece = {"tenant": "acme", "workflow": "invoices@1", "request_id": "message-1"}

    def agent(*turns: Any) -> Any:
        options: dict[str, Any] = {"checkpointer": kept, "interrupt_before": ["tools"]}
        return agent_of(breaker.run(**piece), shop, *turns, **options)

    first = agent(("pay", PAY))
    driven(first, ASKED, way, THREAD)
    saved = at(first, THREAD)

    once, twice = (driven(agent(), None, way, saved) for _ in range(2))

    assert shop.paid == ["I-1"]
    assert answers(once) == [{"payment_id": "P-1", "invoice": "I-1"}]
    assert answers(twice)[0]["reason"] == "duplicate_write"


@pytest.mark.parametrize("way", ROADS)
def test_a_write_that_was_lost_is_reconciled_when_its_state_is_resumed(way: str) -> None:
    shop, breaker, kept = Shop(ConnectionError("lost")), Breaker(), InMemorySaver()
    piece = {"tenant": "acme", "workflow": "invoices@1", "request_id": "message-1"}
    first = agent_of(breaker.run(**piece), shop, ("pay", PAY), checkpointer=kept)
    with pytest.raises(ConnectionError, match="lost"):
        driven(first, ASKED, way, THREAD)

    # No model is asked before the tools this time.
    again = agent_of(breaker.run(**piece), shop, checkpointer=kept)
    (answer,) = answers(driven(again, None, way, THREAD))

    assert shop.paid == ["I-1"]
    assert answer["reason"] == "duplicate_write"


def wire(shop: Shop) -> dict[str, ToolSpec]:
    return {
        "pay": ToolSpec(
            name="pay", effect=Effect.WRITE, identity=("invoice",), requires_approval=True
        )
    }


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("yes", [True, {"approved": True}, {"type": "approve"}, "approve"])
def test_a_call_that_needs_a_yes_interrupts_the_graph_and_is_made_once(
    runs: Runs, way: str, yes: Any
) -> None:
    run, shop = runs(), Shop()
    agent = agent_of(
        run, shop, ("pay", PAY), specs=wire(shop), ask=True, checkpointer=InMemorySaver()
    )

    waiting = driven(agent, ASKED, way, THREAD)
    saved = at(agent, THREAD)
    (question,) = waiting["__interrupt__"]
    assert shop.paid == []
    once, twice = (driven(agent, Command(resume=yes), way, saved) for _ in range(2))

    assert (question.value["tool"], question.value["args"]) == ("pay", PAY)
    assert question.value["call_id"] == "c1.0"
    assert shop.paid == ["I-1"]
    assert answers(once)[0]["payment_id"] == "P-1"
    assert answers(twice)[0]["reason"] == "duplicate_write"


@pytest.mark.parametrize("way", ROADS)
@pytest.mark.parametrize("no", [False, {"approved": False}, {"approved": "yes"}, "no", None])
def test_a_no_lets_nothing_run(runs: Runs, way: str, no: Any) -> None:
    run, shop = runs(), Shop()
    agent = agent_of(
        run, shop, ("pay", PAY), specs=wire(shop), ask=True, checkpointer=InMemorySaver()
    )

    driven(agent, ASKED, way, THREAD)
    ended = driven(agent, Command(resume={"value": no} if no is None else no), way, THREAD)

    assert shop.paid == []
    assert answers(ended)[0]["refused"] is True


@pytest.mark.parametrize("way", WAYS)
def test_another_call_under_the_id_of_one_that_waited_is_asked_about_by_itself(
    runs: Runs, way: str
) -> None:
    shop = Shop()
    one, other = (calls(("pay", {**PAY, "euros": each}), turn=1) for each in (40, 90))
    agent = agent_of(
        runs(),
        shop,
        model=Model(messages=iter([one, other])),
        specs=wire(shop),
        ask=True,
        checkpointer=InMemorySaver(),
    )

    driven(agent, ASKED, way, THREAD)
    (question,) = driven(agent, Command(resume=False), way, THREAD)["__interrupt__"]

    assert question.value["args"]["euros"] == 90
    assert shop.paid == []


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_asks_a_person_itself_runs_when_it_has_its_answer(runs: Runs, way: str) -> None:
    paid: list[str] = []

    @tool
    @tool_spec(effect="write", identity=("invoice",))
    def pay(invoice: str) -> str:
        """Pay, if somebody says so."""
        if interrupt("May I?") is not True:
            return "no"
        paid.append(invoice)
        return "paid"

    agent = agent_of(
        runs(),
        Shop(),
        ("pay", {"invoice": "I-1"}),
        tools=[pay],
        checkpointer=InMemorySaver(),
    )
    driven(agent, ASKED, way, THREAD)
    saved = at(agent, THREAD)

    once, twice = (driven(agent, Command(resume=True), way, saved) for _ in range(2))

    assert paid == ["I-1"]
    assert answers(once) == ["paid"]
    assert answers(twice)[0]["reason"] == "duplicate_write"


# -- graphs that are built by hand


@pytest.mark.parametrize("way", ROADS)
def test_a_node_that_swallows_errors_swallows_no_stop(runs: Runs, way: str) -> None:
    run, shop = runs(), Shop(ConnectionError("lost"))
    del shop.tools[1]  # nothing can say what became of the write
    node = guarded_tool_node(shop.tools, run, handle_tool_errors=True)

    found = answers(driven(by_hand(node, *[("pay", PAY)] * 4), ASKED, way))

    assert shop.paid == ["I-1"]
    assert "lost" in found[0]
    assert [each["reason"] for each in found[1:]] == ["unknown_side_effect"] * 3


@pytest.mark.parametrize(
    ("way", "option"),
    [
        ("invoke", "wrap_tool_call"),
        ("ainvoke", "wrap_tool_call"),
        # An async wrapper serves async graphs alone.
        ("ainvoke", "awrap_tool_call"),
    ],
)
def test_a_wrapper_of_the_teams_own_is_around_the_breaker(
    runs: Runs, way: str, option: str
) -> None:
    def twice(request: Any, execute: Any) -> Any:
        execute(request)
        return execute(request)

    async def atwice(request: Any, execute: Any) -> Any:
        await execute(request)
        return await execute(request)

    run, shop = runs(), Shop()
    wrapper = {"awrap_tool_call": atwice, "wrap_tool_call": twice}[option]
    node = guarded_tool_node(shop.tools, run, **{option: wrapper})

    found = answers(driven(by_hand(node, ("pay", PAY)), ASKED, way))

    assert shop.paid == ["I-1"]
    assert found[0]["reason"] == "duplicate_write"


def test_a_node_with_an_undeclared_tool_is_not_made(runs: Runs) -> None:
    @tool
    def unheard() -> str:
        """Do something."""
        return ""

    with pytest.raises(UndeclaredToolError, match="unheard"):
        guarded_tool_node([unheard], runs())
