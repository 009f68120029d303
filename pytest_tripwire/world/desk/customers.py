"""Customers are looked up by one field or another, and created when they are not there."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import FIELD, NONCE, RESOURCE, VALUE, Role


def find_customer(field: str, value: str) -> dict[str, Any]:
    """Look a customer up.

    Args:
        field: by what: mail, phone or name.
        value: the value to look for.
    """
    return {}


def create_customer(name: str, request_id: str) -> dict[str, Any]:
    """Create a customer.

    Args:
        name: the customer's name.
        request_id: a unique id of your choice.
    """
    return {}


def find(records: Records, slots: Slots) -> Done:
    """Give the customers whose field has the value."""
    field, value = str(slots.get(FIELD)), slots.get(VALUE)
    found = [each for each in records.named("customer ") if each.fields.get(field) == value]
    result = {"customers": [dict(each.fields) for each in found]}
    return Done(result=result, shown=found[0] if found else None, empty=not found)


def create(records: Records, slots: Slots) -> Done:
    """Create a customer, or another one of the same name."""
    changed = records.put(customer_name(slots), name=slots.get(RESOURCE))
    result = {"customer_id": f"C-{slots.get(RESOURCE)}"}
    return Done(result=result, changed=changed, note="customer created")


def customer_name(slots: Slots) -> str:
    """The business's own name of the customer that is meant."""
    return f"customer {slots.get(RESOURCE)}"


def looked_up(slots: Slots) -> str:
    """What a look-up is about."""
    return f"look-up {slots.get(FIELD)}={slots.get(VALUE)}"


FIND = Operation(
    role="find",
    effect=Effect.READ,
    kind="customer_search",
    act=find,
    about=looked_up,
    default=Role(find_customer, {"field": FIELD, "value": VALUE}),
)

CREATE = Operation(
    role="create",
    effect=Effect.WRITE,
    kind="customer",
    act=create,
    about=customer_name,
    needs=(RESOURCE,),
    result_id="customer_id",
    default=Role(create_customer, {"name": RESOURCE, "request_id": NONCE}),
)
