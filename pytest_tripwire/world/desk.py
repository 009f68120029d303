"""A support desk: orders and their refunds, and the tools for them."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records, UnknownRecordError
from pytest_tripwire.world.roles import AMOUNT, NONCE, RESOURCE, WORDING, Role


def issue_refund(order_id: str, amount: float, reason: str, request_id: str) -> dict[str, Any]:
    """Refund a customer for an order.

    Args:
        order_id: the order.
        amount: how much to pay back, in euros.
        reason: why, in your own words.
        request_id: a unique id of your choice.
    """
    return {}


def get_refund(order_id: str) -> dict[str, Any]:
    """Look up whether an order was refunded.

    Args:
        order_id: the order.
    """
    return {}


def order_name(slots: Slots) -> str:
    """The business's own name of the order that is meant."""
    return f"order {slots.get(RESOURCE)}"


def refund(records: Records, slots: Slots) -> Done:
    """Pay an order back. Pays again when asked again: nothing here guards against it."""
    order = records.get(order_name(slots))
    if order is None:
        # Without its name, which the model made up: agents put such texts into logs and reports.
        raise UnknownRecordError("there is no such order")
    paid = [*order.fields["refunds"], slots.get(AMOUNT, 0)]
    changed = records.put(order.name, refunds=paid)
    number = f"R-{slots[RESOURCE]}-{len(paid)}"
    result = {"refund_id": number, "order_id": slots[RESOURCE], "amount": paid[-1]}
    return Done(result=result, changed=changed, note=f"refund {len(paid)} of this order")


def refund_status(records: Records, slots: Slots) -> Done:
    """Say what was paid back on an order."""
    order = records.get(order_name(slots))
    if order is None:
        # Without its name, which the model made up: agents put such texts into logs and reports.
        raise UnknownRecordError("there is no such order")
    paid = order.fields["refunds"]
    if not paid:
        return Done(result={"order_id": slots[RESOURCE], "refund_id": None})
    number = f"R-{slots[RESOURCE]}-{len(paid)}"
    return Done(
        result={"order_id": slots[RESOURCE], "refund_id": number, "amount": paid[-1]},
    )


WRITE = Operation(
    role="write",
    effect=Effect.WRITE,
    kind="refund",
    act=refund,
    about=order_name,
    result_id="refund_id",
    default=Role(
        issue_refund,
        {"order_id": RESOURCE, "amount": AMOUNT, "reason": WORDING, "request_id": NONCE},
    ),
)

STATUS = Operation(
    role="status",
    effect=Effect.READ,
    kind="refund_status",
    act=refund_status,
    about=order_name,
    default=Role(get_refund, {"order_id": RESOURCE}),
)


def open_order(records: Records, order_id: str) -> None:
    """A paid order that nobody has refunded."""
    records.put(f"order {order_id}", refunds=[])
