"""Equal reads in one message, a policy that is asked again, turns that bring nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    Denial,
    Mode,
    Outcome,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Usage,
)

READ = ToolSpec(name="look", effect="read")
POLL = ToolSpec(name="poll", effect="read", poll=True)
PAY = ToolSpec(name="pay", effect="write", identity=("order",), wording=("note",))


def a_call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="same", tool=tool, arguments=arguments)


def a_run(**options: Any) -> Any:
    specs = {each.name: each for each in (READ, POLL, PAY)}
    return Breaker(specs=specs, **options).run()


def test_of_ten_equal_reads_in_flight_three_run() -> None:
    run = a_run()

    told = [run.decide(a_call("look", q="x")) for _ in range(10)]

    assert [each.allowed for each in told] == [True] * 3 + [False] * 7
    assert {each.reason for each in told[3:]} == {"repeated_intent_same_outcome"}
    assert run.mode is Mode.OPEN


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("look", [{"q": str(n)} for n in range(10)]), ("poll", [{"job": "1"}] * 10)],
    ids=["different", "polls"],
)
def test_other_reads_side_by_side_all_run(tool: str, arguments: list[dict[str, Any]]) -> None:
    run = a_run()

    assert all(run.decide(a_call(tool, **each)).allowed for each in arguments)


def test_the_same_under_asyncio() -> None:
    entered: list[str] = []

    async def look(q: str) -> str:
        entered.append(q)
        await asyncio.sleep(0)
        return q

    async def agent() -> list[Any]:
        (tool,) = Breaker(specs={"look": READ}).run().guard([look])
        return await asyncio.gather(*(tool("x") for _ in range(6)))

    asyncio.run(agent())

    assert entered == ["x"] * 3


Policy = Callable[..., Denial | None]


def too_much(call: ToolCall, _spec: ToolSpec) -> Denial | None:
    return Denial(rule="over-limit") if call.arguments["amount"] > 100 else None


def pay(run: Any, order: str, amount: int, note: str = "") -> Any:
    return run.decide(a_call("pay", order=order, amount=amount, note=note))


def test_asking_the_policy_a_third_time_stops_the_run() -> None:
    run = a_run(policy=too_much)

    told = [pay(run, "A", 400, note) for note in ("please", "pretty please", "now", "at once")]

    assert [str(each.reason) for each in told] == [
        "denied",
        "denied",
        "repeated_denial",
        "repeated_denial",
    ]
    assert run.mode is Mode.STOPPED


def test_what_the_policy_allows_is_not_held_against_an_earlier_no() -> None:
    run = a_run(policy=too_much)
    pay(run, "A", 400)
    pay(run, "A", 300)

    assert pay(run, "A", 50).allowed


def test_a_no_about_one_thing_is_none_about_another() -> None:
    run = a_run(policy=too_much)

    told = [pay(run, order, 400) for order in "ABCDEF"]

    assert {str(each.reason) for each in told} == {"denied"}
    assert run.mode is Mode.OPEN


def test_two_known_reads_in_one_turn_are_one_turn_that_brings_nothing() -> None:
    run = a_run(budget=RunBudget(usual_turns=1))
    look = {"q": "x"}
    run.before_model()
    tools = run.guard({"look": lambda q: q}, {"look": READ})
    tools["look"](**look)
    tools["look"](**look)
    tools["look"](q="other")

    assert run.before_model().allowed
    assert run.before_model().allowed
    assert run.before_model().reason == "turn_budget"


def test_what_was_reserved_for_a_failed_request_comes_back() -> None:
    run = a_run(budget=RunBudget(max_model_cost_usd=Decimal(1)))
    for _ in range(5):
        assert run.before_model(Decimal("0.6")).allowed
        run.model_failed()

    run.before_model(Decimal("0.6"))
    run.after_model(Usage(prompt_tokens=1, completion_tokens=1, cost_usd=Decimal("0.6")))

    assert run.budgets()[0].remaining == pytest.approx(0.4)


def many_at_once(run: Any, pieces: int, reads: int = 1) -> list[Any]:
    """What comes of so many tasks that each read the same, `reads` times, and then their own."""

    async def policy() -> str:
        await asyncio.sleep(0)
        return "be kind"

    async def document(number: int) -> str:
        await asyncio.sleep(0)
        return f"document {number}"

    async def task(number: int) -> Any:
        for _ in range(reads):
            await tools["policy"]()
        return await tools["document"](number=number)

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(task(number) for number in range(pieces)))

    tools = run.guard(
        {"policy": policy, "document": document},
        {name: ToolSpec(name=name, effect="read") for name in ("policy", "document")},
    )
    return asyncio.run(all_of_them())


@pytest.mark.parametrize("pieces", [3, 5, 10])
def test_tasks_that_cannot_know_of_one_another_are_no_loop(pieces: int) -> None:
    """One agent on many documents at once, each under the same words."""
    run = a_run()

    assert many_at_once(run, pieces) == [f"document {number}" for number in range(pieces)]
    assert run.mode is Mode.OPEN


def test_tasks_that_ask_again_when_they_know_the_answer_are_one() -> None:
    run = a_run()

    many_at_once(run, 3, reads=3)

    assert run.mode is not Mode.OPEN


@pytest.mark.parametrize("under_way", [1, 2, 3])
def test_answers_that_overlap_are_counted_one_after_the_other(under_way: int) -> None:
    """So many are always under way: each that comes back is followed by the next."""
    run, waiting, back = a_run(), [], 0
    while run.mode is Mode.OPEN and back < 20:
        while len(waiting) < under_way and run.mode is Mode.OPEN:
            waiting.append(ToolCall(call_id=f"c{back}", tool="look", arguments={"q": "x"}))
            run.decide(waiting[-1])
        run.settle(waiting.pop(0), Outcome(status=Status.OK, result="the same"))
        back += 1

    assert run.mode is not Mode.OPEN
    assert back <= 3 * under_way


@pytest.mark.parametrize("failing", [False, True], ids=["answers", "errors"])
def test_equal_calls_of_one_message_end_no_run(failing: bool) -> None:  # noqa: FBT001
    run = a_run()
    calls = [ToolCall(call_id=f"c{n}", tool="look", arguments={"q": "x"}) for n in range(3)]
    outcome = Outcome(status=Status.OK, result="the same")
    if failing:
        outcome = Outcome(status=Status.DEFINITE, error="ValueError: no such thing")

    run.decide_batch(calls)
    for call in calls:
        run.settle(call, outcome)

    assert run.mode is Mode.OPEN
