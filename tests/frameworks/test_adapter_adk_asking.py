"""What takes its time on the Agent Development Kit, and what a person is asked."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.tools import BaseTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.adk.tools.bash_tool import ExecuteBashTool
from google.genai import types

from pytest_tripwire.adapters.adk import AskedError, guarded
from pytest_tripwire.breaker import Breaker, Interrupted, tool_spec
from pytest_tripwire.timeline import Effect

from .adk_shop import Driven, Shop, clerk, confirmation, declared, go, pays, replies

NEEDS = ("google-adk",)


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

    return tool_spec(effect="write", identity=("order",), definite_failures=(AskedError,))(pay)


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


def test_a_person_who_has_said_no_is_not_asked_again() -> None:
    shop, breaker = Shop(), Breaker(specs={"pay": NEEDS_YES})

    async def taken_up() -> Driven:
        with breaker.run() as run:
            asking = Driven(guarded(clerk(shop, replies([pays()])), run))
            await asking.go()
        stored = asking.runner.session_service
        with breaker.run() as run:
            driven = Driven(guarded(clerk(shop, replies()), run), sessions=stored)
            await driven.go(confirmation(asking, confirmed=False))
        return driven

    driven = asyncio.run(taken_up())

    assert shop.paid == []
    assert driven.reasons == ["denied"]
    assert not any(each.actions.requested_tool_confirmations for each in driven.events)


# -- a person is asked within a tool


async def answered(run: Any, agent: LlmAgent) -> Driven:
    """What comes of a person's yes to what is put up, and of what the model asks for after it."""
    driven = Driven(guarded(agent, run, count_model=False))
    await driven.go()
    await driven.go(confirmation(driven))
    return driven


def asks_last(shop: Shop, **spec: Any) -> Any:
    async def pay(order: str, cents: int, note: str, tool_context: ToolContext) -> dict[str, Any]:
        """Pay, and ask whether it was right."""
        shop.paid.append(order)
        if not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint="Was it right?")
        return {"status": "waits"}

    return tool_spec(effect="write", identity=("order",), **spec)(pay)


class AsksLast(BaseTool):
    """A tool of a team's own kind, which asks when it has paid."""

    def __init__(self, shop: Shop) -> None:
        super().__init__(name="pay", description="Pay.")
        self._shop = shop

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(name="pay", description="Pay.")

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        self._shop.paid.append(args["order"])
        if not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint="Was it right?")
        return {"status": "waits"}


@pytest.mark.parametrize("make", [asks_last, AsksLast])
def test_a_tool_that_has_done_something_before_it_asks_does_not_do_it_again(make: Any) -> None:
    shop = Shop()
    model = replies([pays()], [pays(note="once more")])
    agent = LlmAgent(name="clerk", model=model, tools=[make(shop)])
    specs = {"pay": declared("pay", Effect.WRITE, identity=("order",), wording=("note",))}
    driven: list[Driven] = []

    with pytest.raises(Interrupted) as caught, Breaker(specs=specs).run() as run:
        driven.append(asyncio.run(answered(run, agent)))

    assert caught.value.reason == "unknown_side_effect"
    assert shop.paid == ["A-1"]
    assert driven[0].told[0] == {"status": "waits"}
    assert set(driven[0].reasons[1:]) == {"unknown_side_effect"}


def test_a_read_settles_what_a_tool_has_done_before_it_asked() -> None:
    shop = Shop()
    find = shop.tools()[1]
    more = {"result_id": "payment", "reconcile": "find_payment"}
    agent = LlmAgent(name="clerk", model=replies([pays()]), tools=[asks_last(shop, **more), find])

    with Breaker().run() as run:
        driven = asyncio.run(answered(run, agent))

    assert shop.paid == ["A-1"]
    assert driven.reasons == [None, "duplicate_write"]


def test_a_read_that_asks_within_may_ask() -> None:
    @tool_spec(effect="read")
    def peek(tool_context: ToolContext) -> str:
        """Look, when somebody has said yes."""
        if not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint="Look?")
            return "waits"
        return "seen"

    agent = LlmAgent(name="clerk", model=replies([("peek", {})]), tools=[peek])

    with Breaker().run() as run:
        driven = asyncio.run(answered(run, agent))

    assert driven.told == [{"result": "waits"}, {"result": "seen"}]


def test_a_tool_of_the_kits_own_asks_before_it_begins() -> None:
    call = ("execute_bash", {"command": "echo done"})
    agent = LlmAgent(name="clerk", model=replies([call]), tools=[ExecuteBashTool()])
    specs = {"execute_bash": declared("execute_bash", Effect.WRITE, identity=("command",))}

    with Breaker(specs=specs).run() as run:
        driven = asyncio.run(answered(run, agent))

    assert driven.told[1]["stdout"].strip() == "done"


@pytest.mark.parametrize("told", [{"error": "declined"}, {"status": "declined"}])
def test_a_tool_that_declines_says_so_by_its_error_field(told: dict[str, str]) -> None:
    shop = Shop()
    declines = [told]

    @tool_spec(
        effect="write",
        identity=("order",),
        wording=("note",),
        error_field="error",
        definite_failures=("declined",),
    )
    def pay(order: str, cents: int, note: str) -> dict[str, Any]:
        """Pay, unless it is declined."""
        if declines:
            return declines.pop()
        shop.paid.append(order)
        return {"payment": f"P-{order}"}

    agent = LlmAgent(name="clerk", model=replies([pays()], [pays()]), tools=[pay])

    with Breaker().run() as run:
        driven = go(guarded(agent, run))

    known = "error" in told
    assert shop.paid == (["A-1"] if known else [])
    assert driven.reasons == [None, None if known else "duplicate_write"]
