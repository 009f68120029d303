"""Calls of one message decided together: siblings, reads in between, and whatever ends it early."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    Effect,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
)
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import WriteEntry, WriteStatus

SPECS = {
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",)),
    "look": ToolSpec(name="look", effect=Effect.READ),
}


def call(tool: str, number: int = 0, **arguments: Any) -> ToolCall:
    return ToolCall(call_id=f"c{number}", tool=tool, arguments=arguments)


def calls(*proposed: tuple[str, dict[str, Any]]) -> list[ToolCall]:
    return [call(tool, number, **arguments) for number, (tool, arguments) in enumerate(proposed)]


def synchronously(run: Any, batch: Sequence[ToolCall]) -> list[Verdict]:
    verdicts: list[Verdict] = run.decide_batch(batch)
    return verdicts


def as_a_task(run: Any, batch: Sequence[ToolCall]) -> list[Verdict]:
    verdicts: list[Verdict] = asyncio.run(run.adecide_batch(batch))
    return verdicts


both_roads = pytest.mark.parametrize("decided", [synchronously, as_a_task])


def reasons(verdicts: list[Verdict]) -> list[str]:
    return [str(each.reason or "") for each in verdicts]


@both_roads
def test_of_the_same_write_twice_one_is_let_through(decided: Any) -> None:
    run = Breaker(specs=SPECS).run()
    batch = calls(("pay", {"order": "A"}), ("look", {"order": "A"}), ("pay", {"order": "A"}))

    assert reasons(decided(run, batch)) == ["", "", "duplicate_write"]
    for each in batch[:2]:
        run.settle(each, Outcome(status=Status.OK))
    assert run.close() is None


@both_roads
def test_no_budget_gives_more_than_it_has(decided: Any) -> None:
    run = Breaker(specs=SPECS, budget=RunBudget(max_side_effects=2)).run()
    batch = calls(*(("pay", {"order": order}) for order in "ABCD"))

    told = reasons(decided(run, batch))

    assert told == ["", "", "side_effect_budget", "side_effect_budget"]
    assert run.mode is Mode.STOPPED


@both_roads
def test_a_verdict_comes_back_for_each_call_in_order(decided: Any) -> None:
    run = Breaker(specs=SPECS).run()
    batch = calls(("nothing", {}), ("look", {"order": "A"}), ("pay", {"order": "B"}))

    assert reasons(decided(run, batch)) == ["invalid_arguments", "", ""]
    assert decided(run, []) == []


def test_siblings_that_fail_together_are_one_failure() -> None:
    """Four turns of five failures each are no streak of five; a fifth turn makes it one."""
    run = Breaker(specs=SPECS, budget=RunBudget(max_consecutive_errors=5)).run()

    for turn in range(5):
        assert run.mode is Mode.OPEN
        batch = calls(*(("look", {"order": f"{turn}-{each}"}) for each in range(5)))
        for each, verdict in zip(batch, run.decide_batch(batch), strict=True):
            assert verdict.allowed
            run.settle(each, Outcome(status=Status.DEFINITE, error=f"E{turn}"))

    assert run.last_reason is Reason.ERROR_STREAK


def test_batches_are_turns_of_their_own_where_nobody_tells_of_requests() -> None:
    """The same answers one batch after the other are several looks, not one."""
    run = Breaker(specs=SPECS).run()

    for _ in range(3):
        (only,) = calls(("look", {"order": "A"}))
        (verdict,) = run.decide_batch([only])
        assert verdict.allowed
        run.settle(only, Outcome(status=Status.OK, result={"total": 7}))

    assert run.last_reason is Reason.REPEATED_INTENT_SAME_OUTCOME


def test_single_calls_after_a_batch_are_no_siblings_of_it() -> None:
    """Five failures one after the other are a streak, whatever was told of a batch before."""
    run = Breaker(specs=SPECS, budget=RunBudget(max_consecutive_errors=3)).run()
    (first,) = calls(("look", {"order": "0"}))
    run.decide_batch([first])
    run.settle(first, Outcome(status=Status.DEFINITE, error="E0"))

    for number in (1, 2):
        assert run.mode is Mode.OPEN
        single = call("look", number, order=str(number))
        assert run.decide(single).allowed
        run.settle(single, Outcome(status=Status.DEFINITE, error=f"E{number}"))

    assert run.last_reason is Reason.ERROR_STREAK


def test_a_message_that_comes_before_the_last_one_is_answered_is_another_turn() -> None:
    run = Breaker(specs=SPECS, budget=RunBudget(max_consecutive_errors=2)).run()
    proposed = [call("look", number, order=str(number)) for number in range(4)]
    assert all(each.allowed for each in run.decide_batch(proposed[:2]))
    assert all(each.allowed for each in run.decide_batch(proposed[2:]))

    for each in proposed:
        run.settle(each, Outcome(status=Status.DEFINITE, error="E"))

    assert run.last_reason is Reason.ERROR_STREAK


# -- a read in between


def test_siblings_stay_siblings_whatever_comes_back_while_one_is_read() -> None:
    """Two that fail in one message are one failure, though a call was answered in between."""
    earlier = call("look", 8, order="earlier")

    def read(order: str) -> dict[str, str]:
        run.settle(earlier, Outcome(status=Status.OK, result=order))
        return {"pay_id": "P-1"}

    pay = ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), reconcile=read)
    budget = RunBudget(max_consecutive_errors=2)
    run: Any = Breaker(specs={**SPECS, "pay": pay}, budget=budget).run()
    lost = call("pay", 9, order="X")
    run.decide(lost)
    run.settle(lost, Outcome(status=Status.UNKNOWN))
    run.decide(earlier)
    batch = calls(("look", {"order": "A"}), ("pay", {"order": "X"}), ("look", {"order": "B"}))

    assert reasons(run.decide_batch(batch)) == ["", "duplicate_write", ""]
    for each in (batch[0], batch[2]):
        run.settle(each, Outcome(status=Status.DEFINITE, error=each.call_id))
    assert run.mode is Mode.OPEN


@pytest.fixture
def lost(make_shop: Callable[..., Any], refund: Callable[..., Any]) -> Any:
    """A run with one refund whose answer was lost, and which its read can settle."""
    shop = make_shop(refund={"reconcile": "get_refund", "late_effect_s": 5})
    shop.desk.fates = ["lost"]
    run = shop.run()
    refund(run)
    return shop, run


@both_roads
def test_a_lost_write_is_read_back_and_the_rest_goes_on(lost: Any, decided: Any) -> None:
    shop, run = lost
    batch = calls(
        ("get_customer", {"name": "Ada"}),
        ("issue_refund", {"order_id": "A-1", "amount": 10}),
        ("issue_refund", {"order_id": "A-2"}),
        ("issue_refund", {"order_id": "A-2"}),
    )

    verdicts = decided(run, batch)

    assert reasons(verdicts) == ["", "duplicate_write", "", "duplicate_write"]
    assert verdicts[1].answer["refund_id"] == "R-1"
    assert shop.desk.looked == ["A-1"]
    assert run.mode is Mode.OPEN


@both_roads
def test_a_write_that_stays_unknown_closes_the_run_for_the_rest(lost: Any, decided: Any) -> None:
    shop, run = lost
    shop.desk.shown = [TimeoutError()]
    batch = calls(
        ("issue_refund", {"order_id": "A-1", "amount": 10}),
        ("issue_refund", {"order_id": "A-2"}),
        ("get_customer", {"name": "Ada"}),
    )

    told = reasons(decided(run, batch))

    assert told == ["unknown_side_effect"] * 3
    assert len(shop.desk.sent) == 1


# -- whatever ends it early


class StoreError(Exception):
    """The store is down."""


class FailsAt(MemoryLedger):
    """Fails at the n-th write."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.left = number

    def begin(self, entry: WriteEntry, conflict: Any, **about: Any) -> WriteEntry | None:
        self.left -= 1
        if self.left == 0:
            raise StoreError
        return super().begin(entry, conflict, **about)


@both_roads
def test_a_store_that_fails_leaves_nothing_under_way(decided: Any) -> None:
    store = FailsAt(3)
    run = Breaker(specs=SPECS, store=store, budget=RunBudget(max_tool_calls=9)).run()
    batch = calls(*(("pay", {"order": order}) for order in "ABC"))

    with pytest.raises(StoreError):
        decided(run, batch)

    assert {each.status for each in store.of_run(run.run_id)} == {WriteStatus.REJECTED}
    assert [line.spent for line in run.budgets()] == [0]
    assert reasons(run.decide_batch(batch)) == ["", "", ""]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_wait_that_is_broken_off_leaves_nothing_under_way(error: type[BaseException]) -> None:
    class Broken:
        def now(self) -> float:
            return 0.0

        def sleep(self, _seconds: float) -> None:
            raise error

    pay = ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), reconcile="look")
    run = Breaker(specs={**SPECS, "pay": pay}, clock=Broken()).run()  # type: ignore[arg-type]
    lost = call("pay", 9, order="X")
    run.decide(lost)
    run.settle(lost, Outcome(status=Status.UNKNOWN))

    with pytest.raises(error) as told:
        run.decide_batch(calls(("pay", {"order": "A"}), ("pay", {"order": "X"})))

    assert told.value is not None  # held here, or what it holds would be gone by now
    assert run.stats().in_flight == 0


def stopped_at(steps: Any, step: int, error: BaseException) -> bool:
    """Drive a coroutine to its n-th await and throw there; whether there is one."""
    for _ in range(step):
        try:
            steps.send(None)
        except StopIteration:
            return False
    try:
        steps.throw(error)
    except (asyncio.CancelledError, StopIteration):
        return True
    raise AssertionError("the cancellation was swallowed")


class SlowClock:
    """Every sleep is one await."""

    def now(self) -> float:
        return 0.0

    async def asleep(self, _seconds: float) -> None:
        await _once()


class Once:
    """One await."""

    def __await__(self) -> Any:
        yield


async def _once() -> None:
    await Once()


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_cancelled_batch_leaves_nothing_under_way(step: int) -> None:
    async def read(order: str) -> Any:
        await _once()
        raise TimeoutError(order)

    specs = {
        "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), reconcile=read),
        "look": SPECS["look"],
    }
    breaker = Breaker(specs=specs, clock=SlowClock(), budget=RunBudget(max_tool_calls=9))  # type: ignore[arg-type]
    run = breaker.run()
    lost = call("pay", 9, order="X")
    run.decide(lost)
    run.settle(lost, Outcome(status=Status.UNKNOWN))
    batch = calls(("pay", {"order": "A"}), ("look", {"order": "A"}), ("pay", {"order": "X"}))

    met = stopped_at(run.adecide_batch(batch), step, asyncio.CancelledError())

    assert met is (step < 3)
    if met:
        assert run.stats().in_flight == 0
        assert [line.spent for line in run.budgets()] == [1]
        assert reasons(run.decide_batch(batch[:1])) == [""]


# -- properties

BATCHES = st.lists(
    st.lists(st.sampled_from(["pay A", "pay B", "pay C", "look A", "look B"]), max_size=5),
    max_size=5,
)


@settings(max_examples=80, deadline=None)
@given(BATCHES, st.integers(0, 3), st.integers(0, 12))
def test_limits_and_at_most_once_hold_whichever_way_calls_are_told_of(
    batches: list[list[str]], slots: int, most: int
) -> None:
    """One run is told of whole messages, the other of each call as it arrives."""
    budget = RunBudget(max_side_effects=slots, max_tool_calls=most)
    together = Breaker(specs=SPECS, budget=budget).run()
    one_by_one = Breaker(specs=SPECS, budget=budget).run()

    for batch in batches:
        proposed = calls(*((each.split()[0], {"order": each.split()[1]}) for each in batch))
        whole = together.decide_batch(proposed)
        singly = [one_by_one.decide(each) for each in proposed]
        assert reasons(whole) == reasons(singly)
        for run, verdicts in ((together, whole), (one_by_one, singly)):
            for each, verdict in zip(proposed, verdicts, strict=True):
                if verdict.allowed:
                    run.settle(each, Outcome(status=Status.OK, result={"id": each.call_id}))
            assert all(0 <= line.remaining <= line.limit for line in run.budgets())

    assert together.stats().side_effects <= slots
    assert together.stats().calls <= most
