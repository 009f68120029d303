"""Model requests are reserved before and paid after, and nothing goes below zero."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    Usage,
)
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import BudgetAlert, Timeline

CENT = Decimal("0.01")


def usage(dollars: str | None, *, prompt: int | None = 100, completion: int = 10) -> Usage:
    cost = None if dollars is None else Decimal(dollars)
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost)


def begun(timeline: Timeline | None = None, **limits: Any) -> BreakerRun:
    run = Breaker(budget=RunBudget(**limits), default_effect="write").run(timeline=timeline)
    run.guard({"pay": lambda order: order})
    return run


def line(run: BreakerRun, name: str) -> Any:
    return next(each for each in run.budgets() if each.name == name)


def dollars(run: BreakerRun) -> float:
    return float(line(run, "max_model_cost_usd").remaining)


# -- cost


def test_request_is_refused_when_the_money_is_spent() -> None:
    run = begun(max_model_cost_usd=Decimal("0.10"))

    assert run.before_model().allowed
    run.after_model(usage("0.10"))

    assert run.before_model().reason is Reason.COST_BUDGET
    assert run.mode is Mode.STOPPED


def test_tool_is_refused_when_the_money_is_spent() -> None:
    run = begun(max_model_cost_usd=Decimal("0.10"))
    run.before_model()
    run.after_model(usage("0.10"))

    assert run.call("pay", {"order": 1})["reason"] == "cost_budget"


def test_lowest_cost_seen_is_reserved_and_not_the_last() -> None:
    run = begun(max_model_cost_usd=Decimal("1.00"))
    for cost in ("0.10", "0.40"):
        run.before_model()
        run.after_model(usage(cost))

    assert run.before_model().allowed
    assert dollars(run) == pytest.approx(0.40)


def test_what_cannot_pay_the_lowest_is_not_begun() -> None:
    run = begun(max_model_cost_usd=Decimal("0.35"))
    for _ in range(3):
        assert run.before_model().allowed
        run.after_model(usage("0.10"))

    assert run.before_model().reason is Reason.COST_BUDGET
    assert dollars(run) == pytest.approx(0.05)


def test_estimate_of_the_callers_outweighs() -> None:
    run = begun(max_model_cost_usd=Decimal("0.35"))

    assert run.before_model(Decimal("0.30")).allowed
    assert dollars(run) == pytest.approx(0.05)
    assert run.before_model(Decimal("0.30")).reason is Reason.COST_BUDGET


def test_usage_above_the_reservation_is_overrun_and_remaining_clamps() -> None:
    run = begun(max_model_cost_usd=Decimal("0.10"))
    run.before_model(CENT)
    run.after_model(usage("5.00"))

    spent = line(run, "max_model_cost_usd")
    assert (spent.spent, spent.remaining) == (5.0, 0.0)
    assert run.before_model().reason is Reason.COST_BUDGET


def test_reservation_that_was_too_high_is_given_back() -> None:
    run = begun(max_model_cost_usd=Decimal("0.50"))
    run.before_model(Decimal("0.40"))
    run.after_model(usage("0.10"))

    assert dollars(run) == pytest.approx(0.40)


def test_unknown_cost_under_a_budget_is_not_zero() -> None:
    run = begun(max_model_cost_usd=Decimal(1))
    run.before_model()
    run.after_model(usage(None))

    assert run.last_reason is Reason.COST_UNKNOWN
    assert not run.before_model().allowed


def test_unknown_cost_without_a_budget_is_nobodys_business() -> None:
    run = begun(max_turns=5)
    run.before_model()
    run.after_model(usage(None, prompt=None))

    assert run.mode is Mode.OPEN


def test_free_requests_are_free() -> None:
    run = begun(max_model_cost_usd=CENT)
    for _ in range(50):
        assert run.before_model().allowed
        run.after_model(usage("0"))


# -- tokens and turns


def test_tokens() -> None:
    run = begun(max_tokens=250)
    allowed = []
    for _ in range(4):
        allowed.append(run.before_model().allowed)
        run.after_model(usage("0", prompt=100, completion=10))

    assert allowed == [True, True, True, False]
    assert line(run, "max_tokens").remaining == 0


def test_unknown_tokens_under_a_budget() -> None:
    run = begun(max_tokens=250)
    run.before_model()
    run.after_model(usage("0", prompt=None))

    assert run.last_reason is Reason.COST_UNKNOWN


def test_turns_are_the_backstop() -> None:
    run = begun(max_turns=3)

    assert [run.before_model().allowed for _ in range(4)] == [True, True, True, False]
    assert run.last_reason is Reason.TURN_BUDGET


def test_refused_request_is_no_turn() -> None:
    run = begun(max_turns=3, max_model_cost_usd=Decimal("0.10"))
    run.before_model()
    run.after_model(usage("0.10"))
    for _ in range(5):
        run.before_model()

    assert line(run, "max_turns").spent == 1


def test_refused_call_costs_nothing() -> None:
    run = begun(max_tool_calls=5)
    run.call("pay", {"order": 1})
    for _ in range(3):
        assert run.call("pay", {"order": 1})["reason"] == "duplicate_write"

    assert line(run, "max_tool_calls").spent == 1


# -- the prompt's ceiling


def test_past_the_ceiling_one_answer_is_asked_for() -> None:
    run = begun(max_prompt_tokens=150)
    run.guard({"look": lambda at: {"at": at}}, None)
    run.before_model()
    run.after_model(usage("0", prompt=151))

    result = run.call("look", {"at": 1})
    assert "final iteration" in result["tripwire_hint"]
    assert run.before_model().allowed, "the last answer may be asked for"
    assert run.call("look", {"at": 2})["reason"] == "token_budget"


def test_prompt_at_its_ceiling_is_as_good_as_any() -> None:
    run = begun(max_prompt_tokens=150)
    for number in range(3):
        run.before_model()
        run.after_model(usage("0", prompt=150))
        assert run.call("pay", {"order": number}) == number


# -- alerts


def alerts(timeline: Timeline) -> list[tuple[str, float, float]]:
    return [(each.name, each.spent, each.limit) for each in timeline.of(BudgetAlert)]


def test_alert_at_four_fifths_once() -> None:
    timeline = Timeline(lambda: 0.0)
    run = begun(timeline, max_turns=10)
    told = []
    for _ in range(10):
        run.before_model()
        told.append(len(alerts(timeline)))

    assert told == [0] * 7 + [1] * 3
    assert alerts(timeline) == [("max_turns", 8.0, 10.0)]


def test_share_can_be_chosen_and_each_dimension_is_told() -> None:
    timeline = Timeline(lambda: 0.0)
    run = begun(timeline, max_turns=4, max_model_cost_usd=Decimal(1), alert_share=0.5)
    for _ in range(2):
        run.before_model()
        run.after_model(usage("0.30"))

    assert sorted(name for name, *_ in alerts(timeline)) == ["max_model_cost_usd", "max_turns"]


# -- side by side


@pytest.fixture
def busy_threads() -> Iterator[Callable[[list[Callable[[], Any]]], None]]:
    """Runs functions in threads that give way to each other at every step."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def together(work: list[Callable[[], Any]]) -> None:
        threads = [threading.Thread(target=each) for each in work]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    yield together
    sys.setswitchinterval(usual)


def test_nothing_goes_below_zero_with_many_threads(
    busy_threads: Callable[[list[Callable[[], Any]]], None],
) -> None:
    run = begun(
        max_turns=40,
        max_model_cost_usd=Decimal("1.00"),
        max_tokens=3000,
        max_tool_calls=20,
        max_side_effects=15,
    )
    low: list[Any] = []

    def agent(number: int) -> None:
        for step in range(15):
            if run.before_model().allowed:
                run.after_model(usage("0.03"))
            run.call("pay", {"order": f"{number}-{step}"})
            low.extend(each for each in run.budgets() if each.remaining < 0)

    busy_threads([lambda n=n: agent(n) for n in range(8)])  # type: ignore[misc]

    assert low == []
    assert line(run, "max_side_effects").spent <= 15
    assert line(run, "max_tool_calls").spent <= 20
    assert line(run, "max_turns").spent <= 40


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("open"), st.none() | st.decimals(0, 2, places=2)),
        st.tuples(st.just("pay"), st.none() | st.decimals(0, 3, places=2)),
        st.tuples(st.just("begin"), st.integers(0, 5)),
        st.tuples(st.just("end"), st.sampled_from(Status)),
    ),
    max_size=40,
)


@settings(max_examples=40)
@given(STEPS)
def test_no_order_of_requests_and_calls_takes_a_budget_below_zero(steps: list[Any]) -> None:
    run = begun(
        max_turns=6,
        max_model_cost_usd=Decimal(2),
        max_tokens=500,
        max_tool_calls=6,
        max_side_effects=3,
    )
    under_way: list[ToolCall] = []
    for number, (kind, value) in enumerate(steps):
        match kind:
            case "open":
                run.before_model(value)
            case "pay":
                run.after_model(Usage(prompt_tokens=60, completion_tokens=9, cost_usd=value))
            case "begin":
                call = ToolCall(call_id=f"c{number}", tool="pay", arguments={"order": value})
                under_way += [call] * run.decide(call).allowed
            case "end" if under_way:
                run.settle(under_way.pop(0), Outcome(status=value, error="E"))
        assert all(each.remaining >= 0 for each in run.budgets())
        assert all(each.spent >= 0 for each in run.budgets())
    assert line(run, "max_side_effects").spent <= 3
    assert line(run, "max_tool_calls").spent <= 6
