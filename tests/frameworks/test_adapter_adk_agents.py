"""Several agents of the Agent Development Kit, guarded with all that they can reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from google.adk.agents import LlmAgent, SequentialAgent
from google.adk.tools import (
    AgentTool,
    FunctionTool,
)

from pytest_tripwire.adapters.adk import definition, guarded
from pytest_tripwire.breaker import Breaker, Interrupted
from pytest_tripwire.timeline import Effect

from .adk_shop import (
    Shop,
    clerk,
    declared,
    go,
    pays,
    replies,
    ring,
    transfer,
)

NEEDS = ("google-adk",)


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


def test_what_the_run_guards_already_is_guarded_once() -> None:
    shop = Shop()
    decided: list[str] = []

    def note(event: Any) -> None:
        if hasattr(event, "decision"):
            decided.append(event.tool)

    agent = ring(shop, replies([pays()], [transfer("till")]), replies([pays("A-2")]))

    with Breaker(on_event=note).run() as run:
        go(guarded(guarded(agent, run), run))
        turns = run.stats().turns

    assert shop.paid == ["A-1", "A-2"]
    assert decided == ["pay", "transfer_to_agent", "pay"]
    assert turns == 4


def test_two_runs_that_guard_one_agent_decide_both() -> None:
    shop = Shop()

    with Breaker().run() as outer, Breaker().run() as inner:
        go(guarded(guarded(clerk(shop, replies([pays()])), inner), outer))
        assert (inner.stats().calls, outer.stats().calls) == (1, 1)
        assert (inner.stats().turns, outer.stats().turns) == (2, 2)

    assert shop.paid == ["A-1"]


@pytest.mark.filterwarnings("ignore:The `plugins` argument:DeprecationWarning")  # the kit's own
@pytest.mark.parametrize("where", ["specs", "breaker"])
def test_an_agents_tool_that_is_named_is_decided_about_as_well_as_what_is_inside(
    where: str,
) -> None:
    shop = Shop()
    named = {"clerk": declared("clerk", Effect.WRITE, identity=("request",))}
    inner = clerk(shop, replies([pays()], [], [pays()]))
    asks = ("clerk", {"request": "Pay."})
    outer = LlmAgent(name="front", model=replies([asks], [asks]), tools=[AgentTool(inner)])

    with Breaker(specs=named if where == "breaker" else {}).run() as run:
        driven = go(guarded(outer, run, named if where == "specs" else {}))
        turns = run.stats().turns

    assert driven.reasons == [None, "duplicate_write"]
    assert shop.paid == ["A-1"]
    assert turns == 5  # of both agents


def test_agents_that_can_reach_each_other_by_tools_are_cloned_once_each() -> None:
    front = ring(Shop(), replies(), replies())
    till = front.sub_agents[0]
    till.tools = [*till.tools, AgentTool(front)]

    with Breaker().run() as run:
        clone = guarded(front, run)

    (below,) = clone.sub_agents
    assert below.tools[-1].agent is clone
    assert till.tools[-1].agent is front
