"""Where an event is drawn, as what, and what is written beside it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import msgspec

from pytest_tripwire.gate.html.words import BUDGETS
from pytest_tripwire.timeline import (
    UNASKED,
    AnyEvent,
    BudgetAlert,
    ChildBegun,
    CircuitOpened,
    Decided,
    Decision,
    Delivery,
    Dispatch,
    Effect,
    ExternalChange,
    Finished,
    ModeChange,
    ModelRequest,
    Mutation,
    Nudged,
    Reconciled,
    Resumption,
    Settled,
)


class Lane(StrEnum):
    """The lanes, from top to bottom. What the tools answer has a line of its own."""

    MODEL = "model"
    BREAKER = "breaker"
    TOOLS = "tools"
    ANSWERS = "answers"
    WORLD = "world"


class Mark(msgspec.Struct, frozen=True):
    """An event as it is drawn.

    Args:
        lane: where.
        glyph: the name of its shape.
        label: what is written beside it; empty for what its shape says.
    """

    lane: Lane
    glyph: str
    label: str = ""


def mark(event: AnyEvent) -> Mark:  # noqa: C901, PLR0911 - one return for each kind of event
    """How an event is drawn."""
    match event:
        case ModelRequest():
            return Mark(Lane.MODEL, "unasked" if event.says == UNASKED else "ask", _said(event))
        case Decided(decision=Decision.ALLOW):
            return Mark(Lane.BREAKER, "allow")
        case Decided():
            return Mark(Lane.BREAKER, "refuse", event.decision.value.replace("_", " ").lower())
        case Settled():
            return Mark(Lane.BREAKER, "settled")
        case Dispatch():
            return Mark(Lane.TOOLS, _DISPATCHES[event.effect], event.tool)
        case Delivery():
            return Mark(Lane.ANSWERS, "told" if event.told == "ok" else "untold", event.told)
        case Mutation():
            return Mark(Lane.WORLD, "mutation", f"{event.resource} v{event.version}")
        case ExternalChange():
            return Mark(Lane.WORLD, "change", f"by others: {event.resource} v{event.version}")
        case Resumption():
            return Mark(Lane.WORLD, "resume", f"operator: {event.decision}")
        case ModeChange():
            return Mark(Lane.BREAKER, "mode", event.mode.value.replace("_", " "))
    return Mark(Lane.BREAKER, "note", _NOTES[type(event)](event))


def _said(event: ModelRequest) -> str:
    """What the model says, without the word that nearly every answer begins with."""
    return event.says.removeprefix("proposes ")


_DISPATCHES = {Effect.READ: "read", Effect.WRITE: "write", Effect.HANDOFF: "handoff"}

#: What the breaker tells, that stops nothing.
_NOTES: dict[type, Callable[..., str]] = {
    Reconciled: lambda event: f"reads: {event.status}",
    CircuitOpened: lambda event: f"rests: {event.circuit or 'all'}",
    ChildBegun: lambda event: f"begins: {event.agent or event.child}",
    BudgetAlert: lambda event: f"low: {BUDGETS.get(event.name, event.name)}",
    Nudged: lambda event: f"hint: {event.reason.replace('_', ' ')}",
    Finished: lambda event: f"end: {event.state}",
}
