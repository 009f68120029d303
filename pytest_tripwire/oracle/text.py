"""A timeline as people read it. Names, references and classes only: payloads are not in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import msgspec

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


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One event in words.

    Args:
        seq: its number on the timeline.
        at: seconds on the run's clock.
        who: `model`, `breaker`, `tool`, `world` or `operator`.
        what: what happened, in a few words; text of agents and tools is in it as it came.
    """

    seq: int
    at: float
    who: str
    what: str


def timeline_text(events: Sequence[AnyEvent], *, marked: int = 0) -> str:
    """One numbered line for each event, the offending one marked."""
    lines = []
    for line in timeline_lines(events):
        arrow = MARK if line.seq == marked else ""
        flag = ">" if line.seq == marked else " "
        lines.append(f"{flag}{line.seq:3} {line.at:6.0f}s  {line.who:8} {line.what}{arrow}")
    return "\n".join(lines)


def timeline_lines(events: Sequence[AnyEvent]) -> Iterator[Line]:
    """Each event in words, in order, for whoever lays them out otherwise than in plain lines."""
    costs = _sums(events)
    for event in events:
        who, what = _told(event)
        yield Line(seq=event.seq, at=event.at, who=who, what=f"{what}{costs.get(event.seq, '')}")


def _sums(events: Sequence[AnyEvent]) -> dict[int, str]:
    """What each model request cost and what all had by then, by its number."""
    texts: dict[int, str] = {}
    total = Decimal(0)
    for event in events:
        if isinstance(event, ModelRequest) and event.cost_usd:
            total += event.cost_usd
            texts[event.seq] = f", {event.cost_usd:.2f} USD, {total:.2f} in all"
    return texts


def _told(event: AnyEvent) -> tuple[str, str]:  # noqa: C901, PLR0911, PLR0912 - one return for each kind of event
    match event:
        case ModelRequest():
            return "model", f"turn {event.turn}: {event.says}"
        case Decided():
            reason = f" ({event.reason})" if event.reason else ""
            return "breaker", f"{event.tool}: {event.decision}{reason}"
        case Dispatch():
            return "tool", f"{event.tool}({event.resource}) dispatched [{event.effect}]"
        case Mutation():
            return "world", f"MUTATION {event.resource} -> version {event.version}: {event.note}"
        case Delivery():
            note = f" ({event.note})" if event.note else ""
            return "tool", f"answer to {event.dispatch}: {event.told}{note}"
        case Settled():
            return "breaker", f"{event.tool} settled as {event.status}"
        case Reconciled():
            return "breaker", f"{event.tool} reconciled: {event.status}"
        case ExternalChange():
            return "world", f"CHANGED BY OTHERS {event.resource} -> version {event.version}"
        case Resumption():
            return "operator", f"resumes the run ({event.decision})"
        case BudgetAlert():
            return "breaker", f"{event.name}: {event.spent:g} of {event.limit:g} used"
        case Nudged():
            return "breaker", f"the result carries a hint ({event.reason})"
        case Finished():
            return "breaker", f"run has ended: {event.state}"
        case ModeChange():
            return "breaker", f"run is now {event.mode} ({event.reason})"
        case CircuitOpened():
            return "breaker", f"{event.circuit or 'every tool'} is left alone ({event.reason})"
        case ChildBegun():
            return "breaker", f"a sub-agent begins ({event.agent or event.child})"
