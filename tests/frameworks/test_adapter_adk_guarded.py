"""Agents of the Agent Development Kit in production: a breaker's run decides about their calls,
transfers and model requests.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent, SequentialAgent
from google.adk.code_executors import BuiltInCodeExecutor
from google.adk.tools import (
    AgentTool,
    FunctionTool,
    LongRunningFunctionTool,
    ToolContext,
    google_search,
)
from google.adk.tools.base_toolset import BaseToolset
from google.genai import types

from pytest_tripwire.adapters.adk import StoppedError, definition, guarded
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, tool_spec
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.timeline import Effect

from .adk_shop import (
    MODES,
    Driven,
    Shop,
    clerk,
    declared,
    go,
    pays,
    replies,
    ring,
    tell,
    transfer,
)

NEEDS = ("google-adk",)


def test_a_write_that_is_proposed_again_runs_once_and_the_model_is_told() -> None:
    shop = Shop()
    agent = clerk(shop, replies([pays()], [pays(note="once more")]))

    with Breaker().run() as run:
        driven = go(guarded(agent, run))

    assert shop.paid == ["A-1"]
    assert driven.told[0] == {"payment": "P-A-1", "cents": 40}
    assert driven.reasons == [None, "duplicate_write"]


def test_the_same_write_twice_in_one_message_runs_once() -> None:
    shop = Shop()
    shop.under_way = asyncio.Event()
    agent = clerk(shop, replies([pays(), pays(note="too"), ("look", {})]))

    with Breaker().run() as run:
        driven = go(guarded(agent, run))

    assert shop.paid == ["A-1"]
    assert sum(bool(each.get("refused")) for each in driven.told) == 1


@pytest.mark.parametrize("told", [True, False])
def test_a_body_that_raises_is_told_as_ever_and_its_write_is_unknown(told: bool) -> None:  # noqa: FBT001
    shop = Shop()
    shop.fails = TimeoutError
    options = {"on_tool_error_callback": tell} if told else {}
    agent = clerk(shop, replies([pays()], [pays(note="once more")]), **options)
    driven: list[Driven] = []

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        driven.append(go(guarded(agent, run)))

    assert caught.value.reason == "unknown_side_effect"
    assert shop.paid == ["A-1"]
    if told:
        assert driven[0].told[0] == {"error": "TimeoutError"}
        assert driven[0].reasons == [None, "unknown_side_effect"]
    else:
        assert isinstance(caught.value.__cause__, TimeoutError)


def test_a_lost_write_is_settled_by_the_read_that_its_spec_names() -> None:
    shop = Shop()
    shop.fails = TimeoutError
    spec = declared(
        "pay",
        Effect.WRITE,
        identity=("order",),
        wording=("note",),
        result_id="payment",
        reconcile="find_payment",
    )
    agent = clerk(shop, replies([pays()], [pays(note="more")]), on_tool_error_callback=tell)

    with Breaker().run() as run:
        driven = go(guarded(agent, run, {"pay": spec}))

    assert shop.paid == ["A-1"]
    assert driven.reasons == [None, "duplicate_write"]


def breaks(*_given: Any, **_named: Any) -> None:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("callback", "paid"), [("before_tool_callback", []), ("after_tool_callback", ["A-1"])]
)
def test_a_callback_that_raises_leaves_what_was_done_known(callback: str, paid: list[str]) -> None:
    shop = Shop()
    broken = clerk(shop, replies([pays()]), **{callback: breaks})
    whole = clerk(shop, replies([pays()]))

    with Breaker().run() as run:
        with pytest.raises(ZeroDivisionError):
            go(guarded(broken, run))
        before = list(shop.paid)
        driven = go(guarded(whole, run))

    assert before == paid
    assert shop.paid == ["A-1"]
    assert driven.reasons == ["duplicate_write" if paid else None]


def test_a_stop_that_is_swallowed_is_one_all_the_same() -> None:
    def swallow(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> dict[str, bool]:
        return {"ok": True}

    shop = Shop()
    shop.fails = TimeoutError
    agent = clerk(
        shop,
        replies([pays()], [pays(note="again")], [pays("A-2")], [pays("A-3")]),
        on_tool_error_callback=lambda tool, args, tool_context, error: {"ok": True},
        after_tool_callback=swallow,
        before_model_callback=lambda callback_context, llm_request: None,
    )
    driven: list[Driven] = []

    with pytest.raises(Interrupted), Breaker().run() as run:
        driven.append(go(guarded(agent, run, count_model=False)))

    assert driven[0].told == [{"ok": True}] * 4
    assert shop.paid == ["A-1"]


def test_a_sibling_that_is_under_way_at_the_stop_comes_to_its_end() -> None:
    shop = Shop()
    stopped = shop.under_way = asyncio.Event()

    def goes_on(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
        if tool_response.get("refused"):
            stopped.set()

    model = replies([pays("A-1"), pays("A-2")], [pays("A-3")])
    agent = clerk(shop, model, after_tool_callback=goes_on)

    with (
        pytest.raises(Interrupted) as caught,
        Breaker(budget=RunBudget(max_side_effects=1)).run() as run,
    ):
        go(guarded(agent, run))

    assert shop.paid == ["A-1"]
    (write,) = caught.value.record.writes
    assert write.status == "confirmed"


def test_a_sibling_that_is_cancelled_for_anothers_error_is_unknown() -> None:
    shop = Shop()
    shop.under_way = asyncio.Event()

    @tool_spec(effect="read")
    async def broken() -> str:
        """Break."""
        raise ZeroDivisionError

    agent = clerk(shop, replies([pays(), ("broken", {})]))
    agent.tools.append(broken)

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        go(guarded(agent, run))

    assert shop.paid == ["A-1"]
    (write,) = caught.value.record.writes
    assert write.status == "unknown"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def no_fit(order: str) -> tuple[str, dict[str, Any]]:
    return ("pay", {"order": order, "cents": 40})


def test_a_call_that_does_not_fit_has_not_begun_and_may_be_made_as_it_should_be() -> None:
    shop = Shop()
    agent = clerk(shop, replies([no_fit("A-1")], [pays()], [pays(note="again")]))

    with Breaker().run() as run:
        driven = go(guarded(agent, run))

    assert "note" in driven.told[0]["error"]
    assert driven.reasons == [None, None, "duplicate_write"]
    assert shop.paid == ["A-1"]


def test_a_key_of_the_breakers_own_is_no_argument_that_the_model_has_to_give() -> None:
    keys: list[str] = []

    @tool_spec(effect="write", identity=("order",), key_argument="key")
    async def send(order: str, key: str) -> str:
        """Send."""
        keys.append(key)
        return "sent"

    agent = LlmAgent(name="clerk", model=replies([("send", {"order": "A-1"})]), tools=[send])

    with Breaker().run() as run:
        driven = go(guarded(agent, run))

    assert driven.told == [{"result": "sent"}]
    assert len(keys[0]) > 8


# -- transfers


def test_a_transfer_is_a_hand_off_and_leads_to_the_clone() -> None:
    shop = Shop()
    seen: list[Any] = []

    agent = ring(shop, replies([pays()], [transfer("till")]), replies([pays(note="again")]))

    with Breaker(on_event=seen.append).run() as run:
        driven = go(guarded(agent, run))

    assert shop.paid == ["A-1"]
    assert driven.reasons == [None, None, "duplicate_write"]
    assert driven.told[1] == {"result": None}
    decided = [(each.tool, each.call_id) for each in seen if hasattr(each, "decision")]
    assert decided == [
        ("pay", "call-0.0"),
        ("transfer_to_agent", "call-1.0"),
        ("pay", "call-0.0"),
    ]


def test_transfers_that_lead_nowhere_are_stopped() -> None:
    to_till, to_front = [[transfer("till")]] * 30, [[transfer("front")]] * 30
    agent = ring(Shop(), replies(*to_till), replies(*to_front))

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        go(guarded(agent, run))

    assert caught.value.reason == "handoff_without_progress"


@pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")  # the kit's own
def test_an_agent_inside_a_tool_is_guarded_too() -> None:
    shop = Shop()
    inner = clerk(shop, replies([pays(note="again")]))
    asks = ("clerk", {"request": "Pay."})
    outer = LlmAgent(
        name="front",
        model=replies([pays()], [asks]),
        tools=[*shop.tools(), AgentTool(inner)],
    )

    with Breaker().run() as run:
        go(guarded(outer, run))

    assert shop.paid == ["A-1"]


# -- what takes its time, and what a person is asked


def test_a_tool_that_runs_long_is_begun_once() -> None:
    begun: list[str] = []

    @tool_spec(effect="write", identity=("order",))
    def send(order: str) -> None:
        """Send; the answer comes later."""
        begun.append(order)

    call = ("send", {"order": "A-1"})
    agent = LlmAgent(
        name="clerk",
        model=replies([call, ("look", {})], [call]),
        tools=[LongRunningFunctionTool(send), Shop().tools()[2]],
    )

    async def twice(driven: Driven) -> None:
        await driven.go()
        await driven.go()

    with Breaker().run() as run:
        driven = Driven(guarded(agent, run))
        asyncio.run(twice(driven))

    assert begun == ["A-1"]
    assert driven.reasons[-1] == "duplicate_write"


def confirmation(driven: Driven, *, confirmed: bool = True) -> types.Content:
    """A person's word on what the kit has put up last."""
    calls = [call for each in driven.events for call in each.get_function_calls()]
    asked = [each for each in calls if each.name == "adk_request_confirmation"][-1]
    answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
    return types.Content(role="user", parts=[types.Part(function_response=answer)])


NEEDS_YES = declared("pay", Effect.WRITE, identity=("order",), requires_approval=True)


def asks_itself(shop: Shop) -> Any:
    async def pay(order: str, cents: int, note: str, tool_context: ToolContext) -> dict[str, Any]:
        """Pay when somebody has said yes."""
        if not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint="Pay?")
            return {"status": "waits"}
        if not tool_context.tool_confirmation.confirmed:
            return {"status": "declined"}
        shop.paid.append(order)
        return {"payment": f"P-{order}"}

    return tool_spec(effect="write", identity=("order",))(pay)


ASKING: dict[str, Callable[[Shop], Any]] = {
    "the-breaker": lambda shop: shop.tools()[0],
    "the-kit": lambda shop: FunctionTool(shop.tools()[0], require_confirmation=True),
    "the-tool": asks_itself,
}


@pytest.mark.parametrize("who", ASKING)
def test_a_session_that_is_taken_up_twice_pays_once(who: str) -> None:
    shop, breaker = Shop(), Breaker(specs={"pay": NEEDS_YES} if who == "the-breaker" else {})
    piece = {"tenant": "acme", "workflow": "payouts@1", "request_id": "message-4"}

    def agent(run: Any, *turns: Any) -> Any:
        own = LlmAgent(name="clerk", model=replies(*turns), tools=[ASKING[who](shop)])
        return guarded(own, run)

    async def taken_up() -> list[Any]:
        with breaker.run(**piece) as run:
            asking = Driven(agent(run, [pays()]))
            await asking.go()
        assert shop.paid == []
        stored, found = asking.runner.session_service, []
        for _ in range(2):
            with breaker.run(**piece) as run:
                driven = Driven(agent(run), sessions=copy.deepcopy(stored))
                await driven.go(confirmation(asking))
            found.append(driven.reasons)
        return found

    assert asyncio.run(taken_up()) == [[None], ["duplicate_write"]]
    assert shop.paid == ["A-1"]


@pytest.mark.parametrize("who", ASKING)
@pytest.mark.parametrize("confirmed", [True, False])
def test_a_persons_word_in_the_same_run_is_the_breakers_too(who: str, confirmed: bool) -> None:  # noqa: FBT001
    shop = Shop()
    specs = {"pay": NEEDS_YES} if who == "the-breaker" else {}
    own = LlmAgent(name="clerk", model=replies([pays()]), tools=[ASKING[who](shop)])

    async def answered(run: Any) -> Driven:
        driven = Driven(guarded(own, run))
        await driven.go()
        assert shop.paid == []
        await driven.go(confirmation(driven, confirmed=confirmed))
        return driven

    with Breaker(specs=specs).run() as run:
        driven = asyncio.run(answered(run))

    assert shop.paid == (["A-1"] if confirmed else [])
    assert len(driven.told) == 2


# -- model requests


@pytest.mark.parametrize("mode", MODES)
def test_model_requests_and_their_tokens_are_counted(mode: str) -> None:
    shop = Shop()
    agent = clerk(shop, replies([pays()], [("look", {})]))

    with Breaker(budget=RunBudget(max_tokens=1000)).run() as run:
        asyncio.run(Driven(guarded(agent, run)).go(mode=mode))
        stats, (tokens,) = run.stats(), run.budgets()

    assert stats.turns == 3
    assert tokens.spent == 45


def test_a_run_that_is_stopped_ends_before_its_next_model_request() -> None:
    model = replies([pays()], [pays("A-2")])

    with (
        pytest.raises(Interrupted) as caught,
        Breaker(budget=RunBudget(max_turns=1)).run() as run,
    ):
        go(guarded(clerk(Shop(), model), run))

    assert isinstance(caught.value.__cause__, StoppedError)
    assert model.asked == 1


def test_a_request_that_fails_gives_back_what_was_reserved_for_it() -> None:
    breaks_down = replies([("look", {})], [None])  # of None it can make no call
    each = Decimal("0.00015")
    breaker = Breaker(
        budget=RunBudget(max_model_cost_usd=each * 5 / 2),
        prices={"replies": (Decimal(10), Decimal(10))},
    )

    with breaker.run() as run:
        with pytest.raises(TypeError):
            go(guarded(clerk(Shop(), breaks_down), run))
        go(guarded(clerk(Shop(), replies()), run))


def test_requests_that_somebody_else_counts_are_not_counted() -> None:
    with Breaker().run() as run:
        go(guarded(clerk(Shop(), replies()), run, count_model=False))
        assert run.stats().turns == 0


# -- what cannot be guarded


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


UNSEEN: dict[str, dict[str, Any]] = {
    "google_search": {"tools": [google_search]},
    "Many": {"tools": [Many()]},
    "works_on": {"tools": [works_on]},
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


def test_nothing_of_the_teams_own_is_changed() -> None:
    agent = ring(Shop(), replies(), replies())
    before = (list(agent.tools), list(agent.sub_agents), agent.before_tool_callback)

    with Breaker().run() as run:
        clone = guarded(agent, run)

    assert (agent.tools, agent.sub_agents, agent.before_tool_callback) == before
    assert agent.sub_agents[0].parent_agent is agent
    assert clone.sub_agents[0].parent_agent is clone
    shown = [definition(FunctionTool(each)) for each in agent.tools]
    assert [definition(each) for each in clone.tools] == shown


def test_a_tool_that_was_guarded_is_as_free_as_before_for_others() -> None:
    shop = Shop()
    own = FunctionTool(shop.tools()[0])
    agent = LlmAgent(name="clerk", model=replies([pays()], [pays()]), tools=[own])

    with Breaker().run() as run:
        guarded(agent, run)
    go(agent)

    assert shop.paid == ["A-1", "A-1"]


def test_a_list_of_tools_is_guarded_too() -> None:
    shop = Shop()

    with Breaker().run() as run:
        tools = guarded(shop.tools(), run)
        go(LlmAgent(name="clerk", model=replies([pays()], [pays()]), tools=tools))

    assert shop.paid == ["A-1"]


# -- agents in other agents' hands


def single_turn(shop: Shop) -> LlmAgent:
    till = clerk(shop, replies([pays(note="again")]), mode="single_turn", description="Pays.")
    asks = [("clerk", {"request": "Pay."})]
    return LlmAgent(
        name="front", model=replies([pays()], asks), tools=shop.tools(), sub_agents=[till]
    )


def task(shop: Shop) -> LlmAgent:
    done = [("finish_task", {"result": "done"})]
    till = clerk(shop, replies([pays(note="again")], done), mode="task", description="Pays.")
    asks = [("clerk", {"request": "Pay."})]
    return LlmAgent(
        name="front", model=replies([pays()], asks), tools=shop.tools(), sub_agents=[till]
    )


def in_order(shop: Shop) -> SequentialAgent:
    first, second = (
        LlmAgent(name=name, model=replies([pays(note=name)]), tools=shop.tools())
        for name in ("one", "two")
    )
    return SequentialAgent(name="both", sub_agents=[first, second])


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # the kit's own
@pytest.mark.parametrize("team", [single_turn, task, in_order])
def test_whoever_hands_on_the_work_all_of_a_team_are_guarded(team: Callable[[Shop], Any]) -> None:
    shop = Shop()
    specs = {"finish_task": declared("finish_task", Effect.READ)}

    with Breaker(specs=specs).run() as run:
        driven = go(guarded(team(shop), run))
        turns = run.stats().turns

    assert shop.paid == ["A-1"]
    assert turns >= 4
    assert driven.events
