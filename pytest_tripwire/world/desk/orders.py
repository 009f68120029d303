"""Orders are read, and their fields are set."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import FIELD, RESOURCE, VALUE, Role


def get_order(order_id: str) -> dict[str, Any]:
    """Look up an order.

    Args:
        order_id: the order.
    """
    return {}


def set_order_field(order_id: str, field: str, value: str) -> dict[str, Any]:
    """Set one field of an order.

    Args:
        order_id: the order.
        field: which field.
        value: what to set it to.
    """
    return {}


def order_name(slots: Slots) -> str:
    """The business's own name of the order that is meant."""
    return f"order {slots.get(RESOURCE)}"


def open_order(records: Records, order_id: str, **fields: Any) -> None:
    """A paid order that nobody has refunded."""
    records.put(f"order {order_id}", refunds=[], **fields)


def read_order(records: Records, slots: Slots) -> Done:
    """Show an order at its version."""
    order = records.need(order_name(slots))
    result = {"order_id": slots[RESOURCE], **order.fields, "version": order.version}
    return Done(result=result, shown=order)


def edit_order(records: Records, slots: Slots) -> Done:
    """Set a field of an order, to the same value too."""
    order = records.need(order_name(slots))
    field, value = str(slots.get(FIELD)), slots.get(VALUE)
    changed = records.put(order.name, **{field: value})
    result = {"order_id": slots[RESOURCE], field: value, "version": changed.version}
    return Done(result=result, changed=changed, note=f"{field} set")


READ = Operation(
    role="read",
    effect=Effect.READ,
    kind="order",
    act=read_order,
    about=order_name,
    needs=(RESOURCE,),
    result_version="version",
    default=Role(get_order, {"order_id": RESOURCE}),
)

EDIT = Operation(
    role="edit",
    effect=Effect.WRITE,
    kind="order_edit",
    act=edit_order,
    about=order_name,
    needs=(RESOURCE,),
    default=Role(set_order_field, {"order_id": RESOURCE, "field": FIELD, "value": VALUE}),
)
