"""Tickets are opened for colleagues."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import NONCE, RESOURCE, WORDING, Role


def open_ticket(subject: str, text: str, request_id: str) -> dict[str, Any]:
    """Open a ticket for a colleague.

    Args:
        subject: what it is about.
        text: what to say about it.
        request_id: a unique id of your choice.
    """
    return {}


def ticket_name(slots: Slots) -> str:
    """The business's own name of the ticket that is meant."""
    return f"ticket {slots.get(RESOURCE)}"


def open_one(records: Records, slots: Slots) -> Done:
    """Open a ticket, and another one when asked again."""
    changed = records.put(ticket_name(slots), open=True)
    result = {"ticket_id": f"T-{slots.get(RESOURCE)}-{changed.version}"}
    return Done(result=result, changed=changed, note="ticket opened")


TICKET = Operation(
    role="ticket",
    effect=Effect.WRITE,
    kind="ticket",
    act=open_one,
    about=ticket_name,
    needs=(RESOURCE,),
    result_id="ticket_id",
    default=Role(open_ticket, {"subject": RESOURCE, "text": WORDING, "request_id": NONCE}),
)
