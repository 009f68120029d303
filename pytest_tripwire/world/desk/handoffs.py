"""A task is handed to another specialist, who always accepts."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import DETAIL, RESOURCE, TARGET, WORDING, Role


def hand_over(to: str, order_id: str, note: str, findings: str = "") -> dict[str, Any]:
    """Hand the task to another specialist.

    Args:
        to: the specialist, billing or shipping.
        order_id: the order that the task is about.
        note: what to tell the specialist, in your own words.
        findings: what is known so far.
    """
    return {}


def task_name(slots: Slots) -> str:
    """The business's own name of the task that is handed over."""
    return f"order {slots[RESOURCE]}" if RESOURCE in slots else "task"


def accept(_records: Records, slots: Slots) -> Done:
    """Say yes."""
    return Done(result={"accepted_by": slots.get(TARGET, "a specialist")})


HANDOFF = Operation(
    role="handoff",
    effect=Effect.HANDOFF,
    kind="handoff",
    act=accept,
    about=task_name,
    needs=(RESOURCE,),
    about_all=True,
    tells=(DETAIL,),
    targets=("billing", "shipping"),
    default=Role(
        hand_over,
        {"to": TARGET, "order_id": RESOURCE, "note": WORDING, "findings": DETAIL},
    ),
)
