"""One call is decided about once by a family of runs, however often its tool was guarded."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, ToolSpec
from pytest_tripwire.timeline import WriteStatus

PAY = ToolSpec(name="pay", effect="write", identity=("order",))


class Bank:
    """Counts what it pays."""

    def __init__(self) -> None:
        self.paid: list[str] = []

    def pay(self, order: str) -> dict[str, str]:
        self.paid.append(order)
        return {"id": f"P-{len(self.paid)}"}

    async def pay_later(self, order: str) -> dict[str, str]:
        return self.pay(order)


@pytest.fixture
def bank() -> Bank:
    return Bank()


def by_parent_first(run: Any, child: Any, tool: Any) -> Any:
    (outer,) = run.guard([tool], {"pay": PAY})
    return child.guard([outer])[0]


def by_child_first(run: Any, child: Any, tool: Any) -> Any:
    (inner,) = child.guard([tool], {"pay": PAY})
    return run.guard([inner])[0]


def by_one_run(run: Any, _child: Any, tool: Any) -> Any:
    (once,) = run.guard([tool], {"pay": PAY})
    return run.guard([once])[0]


@pytest.mark.parametrize("guarded", [by_parent_first, by_child_first, by_one_run])
def test_a_write_runs_once_and_is_known(bank: Bank, guarded: Callable[..., Any]) -> None:
    breaker = Breaker()
    with breaker.run() as run, run.child("clerk") as child:
        pay = guarded(run, child, bank.pay)

        assert pay("A-1") == {"id": "P-1"}
        assert pay("A-1")["reason"] == "duplicate_write"
        assert run.stats().calls == 1 or child.stats().calls == 1
        statuses = [
            each.status for one in (run, child) for each in breaker.store.of_run(one.run_id)
        ]

    assert bank.paid == ["A-1"]
    assert statuses == [WriteStatus.CONFIRMED]


def test_what_is_wrapped_around_a_guarded_tool_is_kept(bank: Bank) -> None:
    asked = []

    with Breaker().run() as run:
        (guarded,) = run.guard([bank.pay], {"pay": PAY})

        @functools.wraps(guarded)
        def logged(order: str) -> Any:
            asked.append(order)
            return guarded(order)

        (outer,) = run.guard({"ask": logged}, {"ask": ToolSpec(name="ask", effect="read")}).values()
        outer("A-1")

    assert asked == ["A-1"]
    assert bank.paid == ["A-1"]


def test_another_runs_refusal_is_no_result_of_the_tool(bank: Bank) -> None:
    inner, outer = Breaker(), Breaker()

    with inner.run() as one, outer.run() as other:
        (first,) = one.guard([bank.pay], {"pay": PAY})
        first("A-1")
        (second,) = other.guard([first], {"pay": PAY})

        assert second("A-1")["reason"] == "duplicate_write"

    (entry,) = outer.store.of_run(other.run_id)
    assert entry.status is WriteStatus.REJECTED
    assert bank.paid == ["A-1"]


def test_two_breakers_may_both_decide(bank: Bank) -> None:
    inner, outer = Breaker(), Breaker()

    with inner.run() as one, outer.run() as other:
        (first,) = one.guard([bank.pay], {"pay": PAY})
        (second,) = other.guard([first], {"pay": PAY})
        second("A-1")

    assert bank.paid == ["A-1"]
    assert [each.status for each in inner.store.of_run(one.run_id)] == [WriteStatus.CONFIRMED]
    assert [each.status for each in outer.store.of_run(other.run_id)] == [WriteStatus.CONFIRMED]
