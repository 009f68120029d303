"""JSON schemas of signatures, and the parts of the desk."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pytest_tripwire.world import Records, UnknownRecordError
from pytest_tripwire.world.desk import open_order
from pytest_tripwire.world.desk.refunds import refund, refund_status
from pytest_tripwire.world.roles import AMOUNT, RESOURCE
from pytest_tripwire.world.schema import parameters, summary


def documented(order: str, cents: float, *, urgent: bool = False, note: str | None = None) -> None:
    """Pay a customer
    back.

    Args:
        order: the order, as
            the customer names it.
        cents (float): how much: at most 100.
    """


def test_a_documented_function() -> None:
    assert parameters(documented) == {
        "type": "object",
        "properties": {
            "order": {"type": "string", "description": "the order, as"},
            "cents": {"type": "number", "description": "how much: at most 100."},
            "urgent": {"type": "boolean"},
            "note": {},
        },
        "required": ["order", "cents"],
        "additionalProperties": False,
    }
    assert summary(documented) == "Pay a customer back."


@pytest.mark.parametrize(
    ("hint", "kind"),
    [
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (Decimal, "number"),
        (bool, "boolean"),
        (list, "array"),
        (list[str], "array"),
        (dict[str, Any], "object"),
        (Any, None),
        (Records, None),
    ],
)
def test_types(hint: Any, kind: str | None) -> None:
    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = hint

    assert parameters(tool)["properties"]["value"] == ({"type": kind} if kind else {})


def test_an_annotation_that_names_nothing_is_no_error() -> None:
    def tool(value: no_such_thing) -> None:  # noqa: F821
        ...  # type: ignore[name-defined]

    assert parameters(tool)["properties"] == {"value": {}}


def test_what_has_no_name_is_not_offered() -> None:
    def tool(first: str, *rest: str, **more: str) -> None: ...

    assert list(parameters(tool)["properties"]) == ["first"]


def test_a_function_without_a_docstring_is_described_by_its_name() -> None:
    def pay_back() -> None: ...

    assert summary(pay_back) == "pay_back"


# -- the desk


def test_a_refund_is_paid_as_often_as_it_is_asked_for() -> None:
    records = Records()
    open_order(records, "A-1")
    slots = {RESOURCE: "A-1", AMOUNT: 40}

    assert refund_status(records, slots).result == {"order_id": "A-1", "refund_id": None}
    first, second = refund(records, slots), refund(records, slots)

    assert [first.result["refund_id"], second.result["refund_id"]] == ["R-A-1-1", "R-A-1-2"]
    assert first.changed is not None
    assert (first.changed.version, first.note) == (2, "refund 1 of this order")
    assert refund_status(records, slots).result["refund_id"] == "R-A-1-2"


@pytest.mark.parametrize("act", [refund, refund_status])
def test_an_order_that_is_not_there(act: Any) -> None:
    with pytest.raises(UnknownRecordError):
        act(Records(), {RESOURCE: "A-1"})
