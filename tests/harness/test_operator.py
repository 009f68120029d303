"""The person who is asked before a write, and an agent that gives one id to several calls."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from pytest_tripwire import Breaker, ToolSpec
from pytest_tripwire.harness.operator import Approving

SPECS = {
    "pay": ToolSpec(name="pay", effect="write", identity=("order",), requires_approval=True),
}


class Desk:
    """Payments that a person is asked for, and what of them was made."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, int]] = []
        self.run = Breaker().run()
        self.run.guard({"pay": self._pay}, SPECS)
        self.operator = Approving(self.run)

    def _pay(self, order: str, cents: int) -> dict[str, Any]:
        self.paid.append((order, cents))
        return {"ok": True}

    def pay(self, order: str, cents: int = 1, *, call_id: str | None, form: str = "sync") -> Any:
        arguments = {"order": order, "cents": cents}
        if form == "sync":
            return self.operator.call("pay", arguments, call_id=call_id)
        return asyncio.run(self.operator.acall("pay", arguments, call_id=call_id))


FORMS = pytest.mark.parametrize("form", ["sync", "async"])


@FORMS
def test_a_call_that_is_presented_again_is_the_same_call_and_is_made_once(form: str) -> None:
    desk = Desk()

    first, again = (desk.pay("A-1", call_id="c-1", form=form) for _ in range(2))

    assert first == {"ok": True}
    assert again["reason"] == "duplicate_write"
    assert desk.paid == [("A-1", 1)]


@FORMS
@pytest.mark.parametrize(("order", "cents"), [("A-2", 1), ("A-1", 2)])
def test_of_another_call_under_the_same_id_nobody_knows_to_what_the_yes_would_be(
    form: str, order: str, cents: int
) -> None:
    desk = Desk()
    desk.pay("A-1", call_id="c-1", form=form)

    other = desk.pay(order, cents, call_id="c-1", form=form)

    assert (other["refused"], other["reason"]) == (True, "denied")
    assert desk.paid == [("A-1", 1)]


def test_and_calls_with_ids_of_their_own_are_said_yes_to_all_the_same() -> None:
    desk = Desk()
    desk.pay("A-1", call_id="c-1")
    desk.pay("A-2", call_id="c-1")

    assert desk.pay("A-3", call_id="c-3") == {"ok": True}
    assert desk.pay("A-4", call_id=None) == {"ok": True}
    assert desk.paid == [("A-1", 1), ("A-3", 1), ("A-4", 1)]


def test_two_calls_that_share_an_id_side_by_side_raise_nothing_and_pay_at_most_once_each() -> None:
    desk = Desk()
    together = threading.Barrier(2)
    results: list[Any] = []

    def use(order: str) -> None:
        together.wait(5)
        results.append(desk.pay(order, call_id="c-1"))

    threads = [threading.Thread(target=use, args=(order,)) for order in ("A-1", "A-2")]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    made = [each for each in results if each == {"ok": True}]
    assert len(results) == 2
    assert len(made) == len(desk.paid) <= 1
