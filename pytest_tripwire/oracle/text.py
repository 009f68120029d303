"""A timeline as people read it. Names, references and classes only: payloads are not in it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from pytest_tripwire.timeline import (
    AnyEvent,
    BudgetAlert,
    ChildBegun,
    CircuitOpened,
    Decided,
    Delivery,
    Dispatch,
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

MARK = "   <-- should not have happened"


def timeline_text(events: Sequence[AnyEvent], *, marked: int = 0) -> str:
    """One numbered line for each event, the offending one marked."""
    lines = []
    costs = _sums(events)
    for event in events:
        arrow = MARK if event.seq == marked else ""
        flag = ">" if event.seq == marked else " "
        lines.append(
            f"{flag}{event.seq:3} {event.at:6.0f}s  {_line(event)}{costs.get(event.seq, '')}{arrow}"
        )
    return "\n".join(lines)


def _sums(events: Sequence[AnyEvent]) -> dict[int, str]:
    """What each model request cost and what all had by then, by its number."""
    texts: dict[int, str] = {}
    total = Decimal(0)
    for event in events:
        if isinstance(event, ModelRequest) and event.cost_usd:
            total += event.cost_usd
            texts[event.seq] = f", {event.cost_usd:.2f} USD, {total:.2f} in all"
    return texts


def _line(event: AnyEvent) -> str:  # noqa: C901, PLR0911, PLR0912 - one return for each kind of event
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
        case ExternalChange():
            return f"world    CHANGED BY OTHERS {event.resource} -> version {event.version}"
        case Resumption():
            return f"operator resumes the run ({event.decision})"
        case BudgetAlert():
            return f"breaker  {event.name}: {event.spent:g} of {event.limit:g} used"
        case Nudged():
            return f"breaker  the result carries a hint ({event.reason})"
        case Finished():
            return f"breaker  run has ended: {event.state}"
        case ModeChange():
            return f"breaker  run is now {event.mode} ({event.reason})"
        case CircuitOpened():
            return f"breaker  {event.circuit or 'every tool'} is left alone ({event.reason})"
        case ChildBegun():
            return f"breaker  a sub-agent begins ({event.agent or event.child})"
