"""Calls on the Agent Development Kit in production: a breaker's run decides about them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from google.adk.agents import LlmAgent

from pytest_tripwire.adapters.adk import guarded
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, tool_spec
from pytest_tripwire.timeline import Effect

from .adk_shop import (
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


@pytest.mark.parametrize("fits", [True, False])
def test_callbacks_of_the_teams_own_are_called_as_ever(fits: bool) -> None:  # noqa: FBT001
    seen: list[tuple[str, str]] = []

    def before(tool: Any, args: Any, tool_context: Any) -> None:
        seen.append(("before", tool.name))

    def after(tool: Any, args: Any, tool_context: Any, tool_response: Any) -> None:
        seen.append(("after", tool.name))

    shop = Shop()
    call = pays() if fits else no_fit("A-1")
    agent = ring(shop, replies([call], [transfer("till")]), replies())
    agent.before_tool_callback, agent.after_tool_callback = before, after

    with Breaker().run() as run:
        go(guarded(agent, run))

    assert seen == [
        (when, name) for name in ("pay", "transfer_to_agent") for when in ("before", "after")
    ]


def test_a_callback_of_the_teams_own_may_answer_in_place_of_a_tool_and_a_transfer() -> None:
    shop = Shop()
    agent = ring(shop, replies([pays()], [transfer("till")]), replies([pays()]))
    agent.before_tool_callback = lambda tool, args, tool_context: {"ok": True}

    with Breaker().run() as run:
        driven = go(guarded(agent, run))
        assert run.stats().calls == 0

    assert driven.told == [{"ok": True}] * 2
    assert shop.paid == []
