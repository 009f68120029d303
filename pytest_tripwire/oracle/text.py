"""A timeline as people read it. Names, references and classes only: payloads are not in it."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.timeline import (
    AnyEvent,
    Decided,
    Delivery,
    Dispatch,
    ModeChange,
    ModelRequest,
    Mutation,
    Reconciled,
    Settled,
)


MARK = "   <-- should not have happened"


def timeline_text(events: Sequence[AnyEvent], *, marked: int = 0) -> str:
    """One numbered line for each event, the offending one marked."""
    lines = []
    for event in events:
        arrow = MARK if event.seq == marked else ""
        flag = ">" if event.seq == marked else " "
        lines.append(f"{flag}{event.seq:3} {event.at:6.0f}s  {_line(event)}{arrow}")
    return "\n".join(lines)


def _line(event: AnyEvent) -> str:  # noqa: PLR0911 - one return for each kind of event
    match event:
        case ModelRequest():
            return f"model    turn {event.turn}: {event.says}"
        case Decided():
            reason = f" ({event.reason})" if event.reason else ""
            return f"breaker  {event.tool}: {event.decision}{reason}"
        case Dispatch():
            return f"tool     {event.tool}({event.resource}) dispatched [{event.effect}]"
        case Mutation():
            return f"world    MUTATION {event.resource} -> version {event.version}: {event.note}"
        case Delivery():
            note = f" ({event.note})" if event.note else ""
            return f"tool     answer to {event.dispatch}: {event.told}{note}"
        case Settled():
            return f"breaker  {event.tool} settled as {event.status}"
        case Reconciled():
            return f"breaker  {event.tool} reconciled: {event.status}"
        case ModeChange():
            return f"breaker  run is now {event.mode} ({event.reason})"
