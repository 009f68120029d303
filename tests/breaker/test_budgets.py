"""Budgets: reserved before, settled after, never below zero, never above the limit."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Dimension, Mode, Reason, RunBudget, Usage
from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.budget import REASONS
from pytest_tripwire.timeline import BudgetLine, Decided, Decision, Family, ModeChange

Call = Callable[..., Any]


def remaining(run: Any) -> dict[str, float]:
    return {line.name: line.remaining for line in run.budgets()}


@pytest.mark.parametrize("name", ["max_turns", "max_tool_calls", "max_side_effects"])
def test_a_negative_limit_is_refused_by_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"{name}=-1.*0 or more"):
        RunBudget(**{name: -1})


@pytest.mark.parametrize(
    ("name", "absurd"),
    [
        pytest.param("max_tool_calls", 10**400, id="no float holds it"),
        pytest.param("max_tool_calls", 10**5000, id="Python does not print it"),
        pytest.param("max_tokens", 2**63, id="no machine counts to it"),
        pytest.param("max_turns", float("inf"), id="without end"),
        pytest.param("max_model_cost_usd", Decimal("1e400"), id="money that no float holds"),
        pytest.param("max_model_cost_usd", Decimal("Infinity"), id="money without end"),
    ],
)
def test_a_limit_that_no_record_could_tell_is_refused_by_name(name: str, absurd: Any) -> None:
    with pytest.raises(ValueError, match=rf"^RunBudget\({name}=.*None is no limit") as told:
        RunBudget(**{name: absurd})
    assert len(str(told.value)) < 300


@pytest.mark.parametrize("absurd", [Decimal("NaN"), Decimal("sNaN"), "1e400"])
def test_what_is_no_amount_is_refused_by_name(absurd: Any) -> None:
    with pytest.raises(ValueError, match=r"^RunBudget\(max_model_cost_usd=.*expected US dollars"):
        RunBudget(max_model_cost_usd=absurd)


@pytest.mark.parametrize("absurd", [10**400, float("inf"), float("nan")])
def test_a_deadline_that_never_comes_is_refused_by_name(absurd: Any) -> None:
    with pytest.raises(ValueError, match=r"^RunBudget\(deadline_s=.*expected seconds"):
        RunBudget(deadline_s=absurd)


def test_as_many_as_a_machine_counts_are_as_good_as_no_limit(make_shop: Call) -> None:
    run = make_shop(budget=RunBudget(max_turns=sys.maxsize, deadline_s=1e300)).run()
    assert run.before_model().allowed
    (line,) = run.budgets()
    assert line.limit == float(sys.maxsize)


def test_what_no_request_can_have_used_or_cost_is_unknown() -> None:
    used = Usage(prompt_tokens=10**400, completion_tokens=2**63, cost_usd=Decimal("1e400"))
    assert used == Usage()


def test_every_dimension_has_a_limit_and_a_reason() -> None:
    soft = {"usual_turns", "deadline_s", "max_prompt_tokens", "max_same_intent"}
    other = {
        "max_no_progress_steps",
        "max_consecutive_errors",
        "max_repeated_errors",
        "max_attempts_per_task",
        "max_calls_per_minute",
        "alert_share",
    }
    counted = {each.value for each in Dimension}
    assert counted | soft | other == set(RunBudget.__struct_fields__)
    assert {REASONS[each].family for each in Dimension} == {Family.BUDGET}


def test_without_limits_nothing_is_counted_out(shop: Any, refund: Call) -> None:
    run = shop.run()
    for number in range(50):
        assert refund(run, f"A-{number}")["refund_id"]

    assert run.budgets() == ()


def test_turns_end(make_shop: Call) -> None:
    shop = make_shop(budget=RunBudget(max_turns=2))
    run = shop.run()

    assert [run.before_model().allowed for _ in range(4)] == [True, True, False, False]
    assert run.before_model().reason is Reason.TURN_BUDGET
    assert run.before_model().decision is Decision.INTERRUPT
    assert run.mode is Mode.STOPPED
    assert run.call("get_customer", {})["reason"] == "turn_budget"
    assert len(shop.timeline.of(ModeChange)) == 1


def test_tool_calls_end(make_shop: Call, desk: Any) -> None:
    run = make_shop(budget=RunBudget(max_tool_calls=2)).run()

    told = [run.call("get_customer", {"name": str(n)}) for n in range(4)]

    assert [each.get("reason") for each in told] == [None, None] + ["tool_call_budget"] * 2
    assert desk.looked == ["0", "1"]
    assert run.mode is Mode.STOPPED


def test_side_effects_end_and_stop_reads_too(make_shop: Call, desk: Any, refund: Call) -> None:
    run = make_shop(budget=RunBudget(max_side_effects=1)).run()
    refund(run, "A-1")

    assert run.call("get_customer", {"name": "Ada"}) == {"name": "Ada"}
    assert refund(run, "A-2")["reason"] == "side_effect_budget"
    assert run.call("get_customer", {"name": "Ada"})["reason"] == "side_effect_budget"
    assert len(desk.sent) == 1


@pytest.mark.parametrize(("fate", "left"), [("ok", 0), ("lost", 0), ("rejected", 1)])
def test_a_slot_is_kept_unless_nothing_happened(
    make_shop: Call, desk: Any, refund: Call, fate: str, left: int
) -> None:
    desk.fates = [fate]
    run = make_shop(budget=RunBudget(max_side_effects=1, max_tool_calls=5)).run()

    refund(run)

    assert remaining(run) == {"max_side_effects": left, "max_tool_calls": 4}


def test_a_slot_is_held_while_the_write_is_under_way(make_shop: Call) -> None:
    seen: list[Any] = []
    shop = make_shop(budget=RunBudget(max_side_effects=1, max_tool_calls=3))

    def looks(order_id: str) -> dict[str, Any]:
        seen.append(remaining(run))
        seen.append(run.call("pay_back", {"order": f"not {order_id}"})["reason"])
        return {}

    run = shop.run(issue_refund=looks)
    run.call("issue_refund", {"order_id": "A-1"})

    assert seen == [{"max_side_effects": 0, "max_tool_calls": 2}, "side_effect_budget"]


def test_refused_calls_cost_nothing(make_shop: Call, refund: Call) -> None:
    run = make_shop(budget=RunBudget(max_side_effects=2, max_tool_calls=2)).run()
    refund(run)
    before = remaining(run)

    refund(run)
    run.call("issue_refund", {"no_such": 1})
    run.call("no_such_tool", {})

    assert remaining(run) == before == {"max_side_effects": 1, "max_tool_calls": 1}


def test_a_limit_of_zero_lets_nothing_through(make_shop: Call, desk: Any, refund: Call) -> None:
    run = make_shop(budget=RunBudget(max_side_effects=0, max_turns=0)).run()

    assert refund(run)["reason"] == "side_effect_budget"
    assert not run.before_model().allowed
    assert desk.sent == []


def test_the_scarcest_is_named(make_shop: Call, refund: Call) -> None:
    run = make_shop(budget=RunBudget(max_side_effects=0, max_tool_calls=0)).run()

    assert refund(run)["reason"] == "side_effect_budget"


def test_a_reservation_takes_all_or_nothing() -> None:
    accounts = Accounts(RunBudget(max_tool_calls=1, max_side_effects=0))

    short = accounts.reserve({Dimension.TOOL_CALLS: Decimal(1), Dimension.SIDE_EFFECTS: Decimal(1)})

    assert short is Dimension.SIDE_EFFECTS
    assert accounts.lines()[0] == BudgetLine(name="max_tool_calls", limit=1, spent=0, remaining=1)


@pytest.mark.usefixtures("threads_switch_often")
def test_threads_that_reserve_at_once_get_what_there_is() -> None:
    accounts = Accounts(RunBudget(max_tool_calls=7))
    gate = threading.Barrier(24)
    got: list[bool] = []

    def work() -> None:
        gate.wait(20)
        got.append(accounts.reserve({Dimension.TOOL_CALLS: Decimal(1)}) is None)

    threads = [threading.Thread(target=work) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert got.count(True) == 7
    assert accounts.lines()[0].remaining == 0


def test_a_reservation_that_is_being_made_cannot_be_overtaken() -> None:
    accounts = Accounts(RunBudget(max_tool_calls=1))
    overtaken: list[Any] = []
    other = threading.Thread(
        target=lambda: overtaken.append(accounts.reserve({Dimension.TOOL_CALLS: Decimal(1)}))
    )

    class Slow(dict[Dimension, Decimal]):
        """Lets the other thread try between looking and taking."""

        looks = 0

        def items(self) -> Any:
            self.looks += 1
            if self.looks == 2:
                other.start()
                other.join(0.05)
            return super().items()

    assert accounts.reserve(Slow({Dimension.TOOL_CALLS: Decimal(1)})) is None
    other.join(20)

    assert overtaken == [Dimension.TOOL_CALLS]
    assert accounts.lines()[0].spent == 1


AMOUNTS = st.decimals(0, 10, places=2)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(AMOUNTS, AMOUNTS), max_size=20))
def test_even_when_more_is_used_than_promised_nothing_goes_below_zero(
    moves: list[tuple[Decimal, Decimal]],
) -> None:
    accounts = Accounts(RunBudget(max_tool_calls=20))

    for promised, used in moves:
        if accounts.reserve({Dimension.TOOL_CALLS: promised}) is None:
            accounts.settle(Dimension.TOOL_CALLS, reserved=promised, spent=used)
        assert 0 <= accounts.lines()[0].remaining <= 20


def test_a_refused_call_says_so_in_the_timeline(make_shop: Call, refund: Call) -> None:
    shop = make_shop(budget=RunBudget(max_side_effects=0))
    refund(shop.run())

    (decided,) = shop.timeline.of(Decided)
    assert (decided.decision, decided.reason, decided.mode) == (
        Decision.INTERRUPT,
        Reason.SIDE_EFFECT_BUDGET,
        Mode.STOPPED,
    )
