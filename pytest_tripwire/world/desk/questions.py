"""The user is asked for something that only the user knows."""

# ruff: noqa: ARG001 - an agent is shown these signatures; the bodies never run
from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect
from pytest_tripwire.world.operation import Done, Operation, Slots
from pytest_tripwire.world.records import Records
from pytest_tripwire.world.roles import DETAIL, FIELD, WORDING, Role


def ask_user(field: str, why: str, question: str) -> dict[str, Any]:
    """Ask the user for something that is missing. The answer comes with the next message.

    Args:
        field: what is missing.
        why: what it is needed for.
        question: one specific question.
    """
    return {}


def question_name(slots: Slots) -> str:
    """The business's own name of the question."""
    return f"question {slots.get(FIELD)}"


def put(_records: Records, slots: Slots) -> Done:
    """Pass the question on."""
    return Done(result={"asked": slots.get(FIELD)})


ASK = Operation(
    role="ask",
    effect=Effect.READ,
    kind="question",
    act=put,
    about=question_name,
    default=Role(ask_user, {"field": FIELD, "why": DETAIL, "question": WORDING}),
)
