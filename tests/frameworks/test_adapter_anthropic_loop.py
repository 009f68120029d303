"""Loops of one's own on Anthropic's client: the whole message is answered."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.adapters.anthropic import (
    guarded_dispatch,
)
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget
from pytest_tripwire.timeline import (
    BreakerEvent,
    Effect,
    ToolSpec,
)

from .anthropic_shop import (
    FORMS,
    SPECS,
    Shop,
    later,
)

NEEDS = ["anthropic"]


def _reply(*blocks: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """An assistant message as it stands in a saved conversation."""
    content = [
        {"type": "tool_use", "id": call_id, "name": name, "input": given}
        for call_id, name, given in blocks
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": "Well."}, *content]}


def _dispatch_of(shop: Shop) -> Callable[[str, dict[str, Any]], Any]:
    return lambda name, given: getattr(shop, name)(**given)


PAY = ("toolu_1", "refund_order", {"order_id": "A-1", "note": "x"})
PAY_AGAIN = ("toolu_2", "refund_order", {"order_id": "A-1", "note": "y"})
LOOK = ("toolu_3", "search_orders", {"query": "a"})


def _answers(message: dict[str, Any]) -> dict[str, Any]:
    return {each["tool_use_id"]: each for each in message["content"]}


@FORMS
def test_a_whole_message_is_decided_as_one_and_each_call_is_answered(form: str) -> None:
    shop = Shop()
    message = _reply(PAY, PAY_AGAIN, LOOK)
    with Breaker().run() as run:
        if form == "async":
            answer = guarded_dispatch(later(_dispatch_of(shop)), run, SPECS)
            results = _answers(asyncio.run(answer.acall(message)))
        else:
            results = _answers(guarded_dispatch(_dispatch_of(shop), run, SPECS)(message))

    assert list(results) == ["toolu_1", "toolu_2", "toolu_3"]
    assert shop.refunds == ["A-1"]
    assert json.loads(results["toolu_1"]["content"]) == {"refund_id": "R-1"}
    assert json.loads(results["toolu_2"]["content"])["refused"] is True
    assert json.loads(results["toolu_3"]["content"])["orders"] == []


@FORMS
def test_one_saved_message_answered_twice_writes_once(form: str) -> None:
    shop, breaker = Shop(), Breaker()
    for _ in range(2):
        with breaker.run(request_id="message-1") as run:
            if form == "async":
                answer = guarded_dispatch(later(_dispatch_of(shop)), run, SPECS)
                results = asyncio.run(answer.acall(_reply(PAY)))
            else:
                results = guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY))

    assert shop.refunds == ["A-1"]
    assert json.loads(results["content"][0]["content"])["reason"] == "duplicate_write"


def test_a_person_s_yes_lets_the_same_message_through() -> None:
    shop = Shop()
    asked = ToolSpec(
        name="refund_order", effect=Effect.WRITE, identity=("order_id",), requires_approval=True
    )
    with Breaker().run() as run:
        answer = guarded_dispatch(_dispatch_of(shop), run, {**SPECS, "refund_order": asked})
        before = json.loads(answer(_reply(PAY))["content"][0]["content"])
        assert shop.refunds == []
        run.approve(before["call_id"])
        answer(_reply(PAY))

    assert before["call_id"] == "toolu_1"
    assert shop.refunds == ["A-1"]


def test_a_tool_that_raises_is_told_and_the_next_write_is_held() -> None:
    shop = Shop()
    shop.loses_answers = True
    answer = guarded_dispatch(_dispatch_of(shop), Breaker().run(), SPECS)
    first, second, third = (answer(_reply(each))["content"][0] for each in (PAY, PAY_AGAIN, LOOK))

    assert first["is_error"] is True
    assert first["content"] == "TimeoutError: no answer"
    assert json.loads(second["content"])["reason"] == "unknown_side_effect"
    assert "tool_use_id" in third
    assert shop.refunds == ["A-1"]


def test_what_breaks_off_a_message_leaves_the_rest_of_it_undone() -> None:
    class OutOfHereError(BaseException):
        pass

    def dispatch(name: str, given: dict[str, Any]) -> Any:
        raise OutOfHereError

    with Breaker(budget=RunBudget(max_side_effects=1)).run() as run:
        answer = guarded_dispatch(dispatch, run, SPECS)
        with pytest.raises(OutOfHereError):
            answer(_reply(LOOK, PAY))
        shop = Shop()
        guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY))

    assert shop.refunds == ["A-1"]


def test_a_message_that_is_cancelled_settles_what_has_begun_and_takes_the_rest_back() -> None:
    shop, run = Shop(), Breaker(budget=RunBudget(max_side_effects=1)).run()
    begun = asyncio.Event()

    async def dispatch(name: str, given: dict[str, Any]) -> Any:
        begun.set()
        await asyncio.Event().wait()

    async def main() -> None:
        answer = guarded_dispatch(dispatch, run, SPECS)
        task = asyncio.create_task(answer.acall(_reply(LOOK, PAY)))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY))

    assert shop.refunds == ["A-1"]


def test_a_sibling_of_the_call_that_stops_the_run_is_refused() -> None:
    shop, run = Shop(), Breaker().run()

    def dispatch(name: str, given: dict[str, Any]) -> Any:
        if name == "search_orders":
            run.interrupt("Somebody has pulled the plug.")
        return getattr(shop, name)(**given)

    with pytest.raises(Interrupted), run:
        results = _answers(guarded_dispatch(dispatch, run, SPECS)(_reply(LOOK, PAY)))

    assert json.loads(results["toolu_1"]["content"])["refused"] is True
    assert shop.refunds == []


class LaterShop(Shop):
    """A shop whose dispatch is an object with an async call."""

    async def __call__(self, name: str, given: dict[str, Any]) -> Any:
        return getattr(self, name)(**given)

    async def tenants(self, tenant: str, name: str, given: dict[str, Any]) -> Any:
        return await self(name, given)

    def hidden(self, name: str, given: dict[str, Any]) -> Any:
        """Async, as only its result shows."""
        return self(name, given)

    @property
    def dispatches(self) -> dict[str, Callable[[str, dict[str, Any]], Any]]:
        partial = functools.partial(self.tenants, "acme")
        return {"object": self, "partial": partial, "hidden": self.hidden}


@pytest.mark.parametrize("written", ["object", "partial", "hidden"])
def test_an_async_dispatch_is_awaited_or_told(written: str) -> None:
    shop = LaterShop()
    dispatch = shop.dispatches[written]
    with pytest.raises(TypeError, match="acall"):
        guarded_dispatch(dispatch, Breaker().run(), SPECS)(_reply(PAY))
    assert shop.refunds == []

    answered = asyncio.run(guarded_dispatch(dispatch, Breaker().run(), SPECS).acall(_reply(PAY)))

    assert shop.refunds == ["A-1"]
    assert answered["content"][0]["content"] == '{"refund_id": "R-1"}'


def test_a_dispatch_that_is_told_has_left_nothing_unknown() -> None:
    run = Breaker().run()
    with pytest.raises(TypeError):
        guarded_dispatch(LaterShop(), run, SPECS)(_reply(PAY))

    assert run.close() is None


def test_a_dispatch_that_is_not_async_works_in_the_async_form() -> None:
    shop, run = Shop(), Breaker().run()
    answer = guarded_dispatch(_dispatch_of(shop), run, SPECS)

    first, second = (asyncio.run(answer.acall(_reply(each))) for each in (PAY, PAY_AGAIN))

    assert first["content"][0]["content"] == '{"refund_id": "R-1"}'
    assert json.loads(second["content"][0]["content"])["reason"] == "duplicate_write"
    assert shop.refunds == ["A-1"]


def test_a_cancellation_of_a_tool_s_own_is_told_and_the_rest_of_the_message_goes_on() -> None:
    shop, run = Shop(), Breaker().run()

    async def dispatch(name: str, given: dict[str, Any]) -> Any:
        if name == "refund_order":
            raise asyncio.CancelledError
        return getattr(shop, name)(**given)

    answer = guarded_dispatch(dispatch, run, SPECS)
    results = _answers(asyncio.run(answer.acall(_reply(PAY, LOOK))))

    assert results["toolu_1"]["is_error"] is True
    assert json.loads(results["toolu_3"]["content"])["orders"] == []
    again = asyncio.run(answer.acall(_reply(PAY_AGAIN)))["content"][0]
    assert json.loads(again["content"])["reason"] == "unknown_side_effect"


def test_an_observer_that_raises_changes_nothing() -> None:
    def observer(_event: BreakerEvent) -> None:
        raise RuntimeError

    shop = Shop()
    with Breaker(on_event=observer).run() as run:
        guarded_dispatch(_dispatch_of(shop), run, SPECS)(_reply(PAY, PAY_AGAIN))

    assert shop.refunds == ["A-1"]


def _paying(found: list[str], paid: list[str]) -> Any:
    def dispatch(name: str, arguments: dict[str, Any]) -> Any:
        if name == "find":
            found.append(arguments["invoice"])
            return {"payment": "P-1"} if arguments["invoice"] in paid else {}
        paid.append(arguments["invoice"])
        raise TimeoutError("no answer")

    return dispatch


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_lost_write_of_an_own_loop_is_settled_by_its_read(asynchronous: bool) -> None:  # noqa: FBT001
    found: list[str] = []
    paid: list[str] = []
    plain = _paying(found, paid)

    async def later(name: str, arguments: dict[str, Any]) -> Any:
        return plain(name, arguments)

    specs = {
        "pay": ToolSpec(
            name="pay",
            effect=Effect.WRITE,
            identity=("invoice",),
            result_id="payment",
            reconcile="find",
        ),
        "find": ToolSpec(name="find", effect=Effect.READ),
    }

    def proposal(call_id: str) -> dict[str, Any]:
        use = {"type": "tool_use", "id": call_id, "name": "pay", "input": {"invoice": "I-1"}}
        return {"role": "assistant", "content": [use]}

    with Breaker(specs=specs).run() as run:
        answer = guarded_dispatch(later if asynchronous else plain, run, specs)
        told = [
            asyncio.run(answer.acall(proposal(each))) if asynchronous else answer(proposal(each))
            for each in ("c1", "c2")
        ]

    assert (paid, found) == (["I-1"], ["I-1"])
    assert json.loads(told[1]["content"][0]["content"])["reason"] == "duplicate_write"
