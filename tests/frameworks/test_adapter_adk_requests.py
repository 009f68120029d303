"""Model requests of the Agent Development Kit, counted and paid for."""

from __future__ import annotations

import asyncio
import contextlib
from decimal import Decimal
from typing import Any

import httpx
import pytest
from google.adk.agents import LlmAgent, ParallelAgent
from google.adk.models import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import errors

from pytest_tripwire.adapters.adk import StoppedError, guarded
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget

from .adk_shop import MODES, Driven, Replies, Shop, clerk, go, pays, replies

NEEDS = ("google-adk",)


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


class CutOff(Replies):
    """Is cancelled while it answers for the first time."""

    async def generate_content_async(self, request: Any, stream: bool = False) -> Any:  # noqa: FBT001, FBT002
        task = asyncio.current_task()
        if self.asked == 0 and task is not None:
            self.asked = 1
            task.cancel()
            await asyncio.sleep(0)
        async for each in super().generate_content_async(request, stream):
            yield each


async def in_a_task(driven: Driven) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.create_task(driven.go())


async def in_this_task(driven: Driven) -> None:
    try:
        await driven.go()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()


@pytest.mark.parametrize("where", [in_a_task, in_this_task])
@pytest.mark.parametrize("limited", [True, False])
def test_a_request_that_was_cut_off_may_have_cost_something(where: Any, limited: bool) -> None:  # noqa: FBT001
    budget = RunBudget(max_tokens=1000) if limited else RunBudget(max_turns=20)
    model = CutOff()
    ended = pytest.raises(Interrupted) if limited else contextlib.nullcontext()

    async def twice(run: Any) -> None:
        driven = Driven(guarded(clerk(Shop(), model), run))
        await where(driven)
        await driven.go()

    with ended as caught, Breaker(budget=budget).run() as run:
        asyncio.run(twice(run))

    assert model.asked == (1 if limited else 2)
    assert run.stats().turns == (1 if limited else 2)
    if caught is not None:
        assert caught.value.reason == "cost_unknown"


def test_an_answer_that_a_plugin_has_replaced_may_have_cost_something() -> None:
    class Replaces(BasePlugin):
        async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
            return LlmResponse(content=llm_response.content)

    model = replies([("look", {})])

    async def replaced(run: Any) -> None:
        driven = Driven(guarded(clerk(Shop(), model), run))
        driven.runner.plugin_manager.register_plugin(Replaces(name="replaces"))
        await driven.go()

    limited = Breaker(budget=RunBudget(max_tokens=1000))
    with pytest.raises(Interrupted) as caught, limited.run() as run:
        asyncio.run(replaced(run))

    assert caught.value.reason == "cost_unknown"
    assert model.asked == 1


@pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")  # the kit's own
def test_requests_side_by_side_are_each_counted_once() -> None:
    agents = [
        LlmAgent(name=name, model=replies([("look", {})]), tools=Shop().tools()[2:])
        for name in ("one", "two")
    ]

    with Breaker(budget=RunBudget(max_tokens=1000)).run() as run:
        go(guarded(ParallelAgent(name="both", sub_agents=agents), run))
        stats, (tokens,) = run.stats(), run.budgets()

    assert stats.turns == 4
    assert tokens.spent == 60


def test_a_request_that_fails_gives_back_what_was_reserved_for_it() -> None:
    breaks_down = replies([("look", {})], [None])  # of None it can make no call
    each = Decimal("0.00015")
    breaker = Breaker(
        budget=RunBudget(max_model_cost_usd=each * 5 / 2),
        prices={"replies": (Decimal(10), Decimal(10))},
    )

    with breaker.run() as run:
        agent = guarded(clerk(Shop(), breaks_down), run)
        with pytest.raises(TypeError):
            go(agent)
        go(agent)

    assert breaks_down.asked == 3


class Fails(Replies):
    """Fails at first."""

    error: Any = None

    async def generate_content_async(self, request: Any, stream: bool = False) -> Any:  # noqa: FBT001, FBT002
        self.asked += 1
        if self.asked == 1:
            raise self.error
        async for each in super().generate_content_async(request, stream):
            yield each


NOTHING = {"error": {"message": "no more"}}


@pytest.mark.parametrize(
    ("error", "lost"),
    [
        (ConnectionResetError("lost"), True),
        (TimeoutError("lost"), True),
        (httpx.ReadTimeout("lost"), True),
        (httpx.ConnectTimeout("not there"), False),
        (ConnectionRefusedError("not there"), False),
        (errors.ServerError(503, NOTHING), False),
        (ValueError("a mistake"), False),
    ],
    ids=lambda each: type(each).__name__,
)
def test_a_request_whose_answer_was_lost_may_have_cost_something(
    error: Exception,
    lost: bool,  # noqa: FBT001
) -> None:
    model = Fails(error=error)
    run = Breaker(budget=RunBudget(max_tokens=1000)).run()
    agent = guarded(clerk(Shop(), model), run)

    for _ in range(2):
        with contextlib.suppress(type(error), StoppedError):
            go(agent)

    record = run.close()
    assert (record is not None and record.reason == "cost_unknown") == lost
    assert (model.asked == 1) == lost


def test_requests_that_somebody_else_counts_are_not_counted() -> None:
    with Breaker().run() as run:
        go(guarded(clerk(Shop(), replies()), run, count_model=False))
        assert run.stats().turns == 0
