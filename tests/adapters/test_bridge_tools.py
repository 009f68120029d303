"""Tools of a framework, each with the body that runs it: what has not begun, a person's yes, the
reads that settle a lost write, and two tools of one name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pytest_tripwire import Breaker, ToolSpec
from pytest_tripwire.adapters import Bridge, NotBegun, handoff_spec, in_order, is_refused
from pytest_tripwire.breaker import BreakerRun
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.timeline import ToolCall

PAY = ToolSpec(name="pay", effect="write", identity=("order",), wording=("note",))
ASKS = ToolSpec(name="pay", effect="write", identity=("order",), requires_approval=True)
LOOK = ToolSpec(name="look", effect="read", identity=("order",))


class Till:
    """Two tools of a framework, and what they have done in which context."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, Any]] = []
        self.looked: list[tuple[str, Any]] = []
        self.lost = False

    def pay(self, arguments: dict[str, Any], context: Any) -> Any:
        if "note" not in arguments:
            raise NotBegun("a note is missing")
        self.paid.append((arguments["order"], context))
        if self.lost:
            raise TimeoutError
        return "paid"

    def look(self, arguments: dict[str, Any], context: Any) -> Any:
        self.looked.append((arguments["order"], context))
        return {"order": arguments["order"]}


def reason_of(run: BreakerRun) -> str | None:
    """Why a run has not ended well."""
    record = run.close()
    return None if record is None else record.reason


#: Asks on either road, and gives what the model is told.
Ask = Callable[..., Any]


def now(run: BreakerRun, specs: Any, till: Till) -> dict[str, Ask]:
    bridge = Bridge(run, specs)
    return {name: bridge.tool(name, getattr(till, name), asynchronous=False).call for name in specs}


def later(run: BreakerRun, specs: Any, till: Till) -> dict[str, Ask]:
    bridge = Bridge(run, specs)

    def asks(name: str) -> Ask:
        async def body(arguments: dict[str, Any], context: Any) -> Any:
            await asyncio.sleep(0)
            return getattr(till, name)(arguments, context)

        tool = bridge.tool(name, body, asynchronous=True)
        return lambda *given, **named: asyncio.run(tool.acall(*given, **named))

    return {name: asks(name) for name in specs}


ROADS = pytest.mark.parametrize("road", [now, later])
NO_NOTE = {"order": "A-1"}
WHOLE = {"order": "A-1", "note": "sorry"}


@ROADS
def test_what_has_not_begun_is_told_and_may_be_made_as_it_should_be(road: Any) -> None:
    till = Till()

    with Breaker().run() as run:
        ask = road(run, {"pay": PAY}, till)["pay"]
        told = [ask(NO_NOTE), ask(WHOLE), ask({**WHOLE, "note": "again"})]

    assert told[:2] == ["a note is missing", "paid"]
    assert told[2]["reason"] == "duplicate_write"
    assert [order for order, _ in till.paid] == ["A-1"]


def test_what_a_body_raises_besides_leaves_its_write_unknown_and_is_raised() -> None:
    class NotBegunEither(Exception):  # noqa: N818 - a look-alike
        """Says so by its name, and is none of the adapter's."""

    def body(_arguments: dict[str, Any], _context: Any) -> Any:
        raise NotBegunEither

    run = Breaker().run()
    tool = Bridge(run, {"pay": PAY}).tool("pay", body, asynchronous=False)
    with pytest.raises(NotBegunEither):
        tool.call(WHOLE)

    assert reason_of(run) == "unknown_side_effect"


def test_what_never_begins_is_stopped_in_the_end() -> None:
    till = Till()

    run = Breaker().run()
    ask = now(run, {"pay": PAY}, till)["pay"]
    told = [ask(NO_NOTE) for _ in range(20)]

    assert told[:2] == ["a note is missing"] * 2
    assert is_refused(told[-1])
    assert till.paid == []


def test_in_a_message_of_several_calls_one_that_has_not_begun_holds_up_no_other() -> None:
    till = Till()
    calls = [
        ToolCall(call_id=str(at), tool="pay", arguments=each)
        for at, each in enumerate([NO_NOTE, {"order": "A-2", "note": "sorry"}])
    ]

    with Breaker().run() as run:
        bridge = Bridge(run, {"pay": PAY})
        bridge.take("pay", asynchronous=False)
        told = in_order(bridge, calls, lambda _name, given: till.pay(given, None))

    assert told == ["a note is missing", "paid"]


# -- a person's yes


@ROADS
def test_a_yes_to_a_call_that_was_put_up_in_this_run_or_in_none_lets_it_run_once(road: Any) -> None:
    till = Till()

    with Breaker().run() as run:
        ask = road(run, {"pay": ASKS}, till)["pay"]
        put_up = ask(WHOLE, call_id="c-1")
        agreed = ask(WHOLE, call_id="c-1", approved=True)
        elsewhere = ask({**WHOLE, "order": "A-2"}, call_id="c-2", approved=True)
        again = ask({**WHOLE, "order": "A-2"}, call_id="c-2", approved=True)

    assert put_up["call_id"] == "c-1"
    assert [agreed, elsewhere] == ["paid", "paid"]
    assert again["reason"] == "duplicate_write"
    assert [order for order, _ in till.paid] == ["A-1", "A-2"]


@ROADS
def test_without_a_yes_nothing_runs(road: Any) -> None:
    till = Till()

    with Breaker().run() as run:
        ask = road(run, {"pay": ASKS}, till)["pay"]
        for _ in range(2):
            assert is_refused(ask(WHOLE, call_id="c-1"))

    assert till.paid == []


def test_a_yes_does_not_outweigh_what_speaks_against_the_call() -> None:
    till = Till()

    run = Breaker().run()
    ask = now(run, {"pay": ASKS}, till)["pay"]
    run.interrupt("Enough.")

    assert is_refused(ask(WHOLE, call_id="c-1", approved=True))
    assert till.paid == []


# -- the reads that settle a lost write


@ROADS
def test_a_lost_write_is_settled_by_another_tool_in_the_context_of_the_call(road: Any) -> None:
    till = Till()
    till.lost = True
    specs = {
        "pay": ToolSpec(name="pay", effect="write", identity=("order",), reconcile="look"),
        "look": LOOK,
    }

    ask = road(Breaker().run(), specs, till)["pay"]
    with pytest.raises(TimeoutError):
        ask(WHOLE, "first")
    ask(WHOLE, "second")

    assert till.paid == [("A-1", "first")]
    assert till.looked == [("A-1", "second")]


def test_two_tools_of_one_name_run_each_its_own_body() -> None:
    one, other = Till(), Till()

    with Breaker().run() as run:
        bridge = Bridge(run, {"pay": PAY})
        tools = [bridge.tool("pay", each.pay, asynchronous=False) for each in (one, other)]
        for at, tool in enumerate(tools):
            tool.call({**WHOLE, "order": f"A-{at}"})

    assert (one.paid, other.paid) == ([("A-0", None)], [("A-1", None)])


# -- one name, declared differently

WIDER = ToolSpec(name="pay", effect="write", identity=("order", "note"))
#: Its errors would be taken for proofs by the other, which never said so.
SURE = msgspec.structs.replace(PAY, definite_failures=(TimeoutError,))


@pytest.mark.parametrize("other", [WIDER, SURE], ids=["known-by", "means"])
def test_two_tools_of_one_name_that_are_declared_differently_are_an_error(other: ToolSpec) -> None:
    run = Breaker().run()
    bridge = Bridge(run)
    bridge.take("pay", asynchronous=False, spec=PAY)

    with pytest.raises(TypeError, match=r"two tools .* 'pay'.*declared differently"):
        bridge.take("pay", asynchronous=False, spec=other)

    assert run.declared("pay") == PAY


def test_one_that_says_nothing_is_not_taken_for_the_other() -> None:
    bridge = Bridge(Breaker().run())
    bridge.take("pay", asynchronous=False, spec=PAY)

    with pytest.raises(UndeclaredToolError):
        bridge.take("pay", asynchronous=False)


@pytest.mark.parametrize("where", ["specs", "breaker"])
def test_what_is_declared_by_name_outweighs_both_and_so_they_may_differ(where: str) -> None:
    table = {"pay": ToolSpec(name="pay", effect="write", identity=("order",), cost="1")}
    run = Breaker(specs=table if where == "breaker" else {}).run()
    bridge = Bridge(run, table if where == "specs" else {})

    for each in (PAY, WIDER, None):
        bridge.take("pay", asynchronous=False, spec=each)

    assert run.declared("pay") == table["pay"]


def test_a_hand_off_that_nobody_declared_is_about_the_task_as_a_whole() -> None:
    run = Breaker().run()
    bridge = Bridge(run)
    tools = [
        bridge.tool(name, lambda _a, _c: "ok", asynchronous=False, spec=handoff_spec(name))
        for name in ("to_till", "to_desk")
    ]
    for at in range(30):
        tools[at % 2].call({"note": str(at)}, agent=("desk", "till")[at % 2])

    assert reason_of(run) == "handoff_without_progress"
    assert handoff_spec("to_till").kind == handoff_spec("to_desk").kind
