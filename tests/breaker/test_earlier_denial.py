"""A no is a fact about the intent; asking something else is good work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Mode, Reason, ToolSpec


class NotAllowedError(Exception):
    """The business's no, by a rule."""

    def __init__(self, rule: str | None = None) -> None:
        super().__init__("no")
        if rule is not None:
            self.rule = rule


def spec(name: str, effect: str, **declared: Any) -> ToolSpec:
    return ToolSpec(name=name, effect=effect, denials=(NotAllowedError,), **declared)  # type: ignore[arg-type]


SPECS = {
    "refund": spec("refund", "write", operation="pay", identity=("order",), wording=("reason",)),
    "credit": spec("credit", "write", operation="pay", identity=("order",), wording=("note",)),
    "edit": spec("edit", "write", identity=("order",)),
    "hand": spec("hand", "handoff", identity=("to",), wording=("note",)),
    "look": spec("look", "read"),
}


class Business:
    """Says no while `rules` holds one; `sent` is what reached it."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.rules: list[str | None] = []
        self.run = Breaker(specs=SPECS).run()
        self.run.guard({name: self._tool(name) for name in SPECS}, SPECS)

    def _tool(self, name: str) -> Callable[..., Any]:
        def tool(**arguments: Any) -> dict[str, Any]:
            self.sent.append(name)
            if self.rules:
                raise NotAllowedError(self.rules.pop(0))
            return {"done": arguments}

        return tool

    def ask(self, tool: str, **arguments: Any) -> str:
        """`ok`, `denied` by the business, or the reason why it was not sent."""
        try:
            result = self.run.call(tool, arguments)
        except NotAllowedError:
            return "denied"
        return str(result["reason"]) if result.get("refused") else "ok"


@pytest.fixture
def desk() -> Business:
    return Business()


def test_same_request_in_other_words_is_not_sent(desk: Business) -> None:
    desk.rules = ["window"]

    asked = [desk.ask("refund", order="A", amount=40, reason=why) for why in ("x", "y", "z")]

    assert asked == ["denied", "repeated_denial", "repeated_denial"]
    assert desk.sent == ["refund"]


def test_refused_once_then_stopped(desk: Business) -> None:
    desk.rules = ["window"]
    modes = []
    for why in "xyz":
        desk.ask("refund", order="A", amount=40, reason=why)
        modes.append(desk.run.mode)

    assert modes == [Mode.OPEN, Mode.OPEN, Mode.STOPPED]
    record = desk.run.close()
    assert record is not None
    assert record.reason is Reason.REPEATED_DENIAL
    assert record.evidence
    assert "window" in record.message


def test_another_tool_of_the_operation_is_the_same_request(desk: Business) -> None:
    desk.rules = ["window"]

    assert desk.ask("refund", order="A", amount=40) == "denied"
    assert desk.ask("credit", order="A", amount=40) == "repeated_denial"


def test_smaller_request_by_another_tool_is_an_evasion_too(desk: Business) -> None:
    desk.rules = ["limit"]

    assert desk.ask("refund", order="A", amount=400) == "denied"
    assert desk.ask("credit", order="A", amount=40) == "repeated_denial"


def test_another_resource_is_another_request(desk: Business) -> None:
    desk.rules = ["window"] * 10

    orders = [desk.ask("refund", order=f"A-{number}", amount=40) for number in range(10)]

    assert orders == ["denied"] * 10
    assert desk.ask("refund", order="B", amount=40) == "ok"


def test_another_operation_on_the_resource_is_another_request(desk: Business) -> None:
    desk.rules = ["window"]

    assert desk.ask("refund", order="A", amount=40) == "denied"
    assert desk.ask("edit", order="A", status="closed") == "ok"


def test_less_may_be_asked_for_once(desk: Business) -> None:
    desk.rules = ["limit"]

    assert desk.ask("refund", order="A", amount=400) == "denied"
    assert desk.ask("refund", order="A", amount=50) == "ok"


def test_less_and_less_may_not(desk: Business) -> None:
    desk.rules = ["limit"] * 3

    asked = [desk.ask("refund", order="A", amount=amount) for amount in (400, 300, 200)]

    assert asked == ["denied", "denied", "repeated_denial"]


def test_other_rules_are_other_questions(desk: Business) -> None:
    # A batch of edits of one record, some of which policy forbids for reasons of their own.
    desk.rules = ["no address changes", "no price changes"]

    asked = [desk.ask("edit", order="A", **{name: 1}) for name in ("address", "price", "note")]

    assert asked == ["denied", "denied", "ok"]


def test_after_a_refusal_nothing_else_about_it_is_asked(desk: Business) -> None:
    desk.rules = ["limit"]

    asked = [desk.ask("refund", order="A", amount=amount) for amount in (400, 400, 50)]

    assert asked == ["denied", "repeated_denial", "repeated_denial"]


def test_denial_without_a_rule_counts_by_its_class(desk: Business) -> None:
    desk.rules = [None]

    assert desk.ask("refund", order="A", amount=40) == "denied"
    assert desk.ask("refund", order="A", amount=40) == "repeated_denial"
    assert "NotAllowedError" in (desk.run.call("refund", {"order": "A", "amount": 40})["message"])


def test_denied_hand_off_is_not_tried_again(desk: Business) -> None:
    desk.rules = ["closed"]

    assert desk.ask("hand", to="billing", note="x") == "denied"
    assert desk.ask("hand", to="billing", note="y") == "repeated_denial"
    assert desk.ask("hand", to="shipping", note="y") == "ok"


def test_denied_read_is_bounded_as_any_read(desk: Business) -> None:
    desk.rules = ["secret"] * 9

    asked = [desk.ask("look", at="salaries") for _ in range(4)]

    assert asked == ["denied", "denied", "denied", "repeated_intent_same_outcome"]


def test_reads_go_on_after_a_denial(desk: Business) -> None:
    desk.rules = ["window"]
    desk.ask("refund", order="A", amount=40)

    assert desk.ask("look", at="policy") == "ok"


def test_denied_write_costs_no_slot_and_leaves_no_doubt(desk: Business) -> None:
    desk.rules = ["window"]
    desk.ask("refund", order="A", amount=40)

    assert desk.run.close() is None
