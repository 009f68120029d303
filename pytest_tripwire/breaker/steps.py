"""The last things that a run did, as its record tells them: names and states, no words."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from pytest_tripwire.breaker.tally import UNDECLARED
from pytest_tripwire.timeline import (
    BreakerEvent,
    BudgetAlert,
    ChildBegun,
    CircuitOpened,
    Decided,
    Finished,
    ModeChange,
    Nudged,
    Reconciled,
    Settled,
    StepNote,
)

#: By kind of event: what it is called, and the attributes that say which tool and what came of it.
_KINDS: Mapping[type[BreakerEvent], tuple[str, str, str]] = {
    Decided: ("decided", "tool", "decision"),
    Settled: ("settled", "tool", "status"),
    Reconciled: ("reconciled", "tool", "status"),
    ModeChange: ("mode", "", "mode"),
    CircuitOpened: ("circuit_opened", "circuit", ""),
    ChildBegun: ("child_begun", "", "agent"),
    BudgetAlert: ("budget_alert", "", "name"),
    Nudged: ("nudged", "", ""),
    Finished: ("finished", "", "state"),
}


def steps_of(
    events: Iterable[BreakerEvent], *, elapsed_s: float, tools: Container[str]
) -> tuple[StepNote, ...]:
    """`events` as a record carries them, the last of which has just happened, `elapsed_s` seconds
    after the run began. What a model calls a tool and is none of `tools` may be anything, and is
    not told.
    """
    told = list(events)
    shift = elapsed_s - told[-1].at if told else 0.0
    return tuple(_step(each, max(0.0, each.at + shift), tools) for each in told)


def _step(event: BreakerEvent, at_s: float, tools: Container[str]) -> StepNote:
    what, tool, outcome = _KINDS[type(event)]
    name = _text(event, tool)
    return StepNote(
        seq=event.seq,
        at_s=at_s,
        what=what,
        tool=name if not name or name in tools else UNDECLARED,
        outcome=_text(event, outcome),
        reason=_text(event, "reason"),
    )


def _text(event: BreakerEvent, name: str) -> str:
    value: Any = getattr(event, name, None) if name else None
    return "" if value is None else str(value)
