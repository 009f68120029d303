"""How budgets ran down, from the events and the limits. What does not come to the balance that the
run had at its end is not drawn: a line that is nearly right is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import msgspec

from pytest_tripwire.oracle.cell import Cell
from pytest_tripwire.timeline import (
    UNASKED,
    AnyEvent,
    BudgetLine,
    ChildBegun,
    Decided,
    Decision,
    Dispatch,
    Effect,
    ModelRequest,
    Reconciled,
    Settled,
    Status,
    WriteStatus,
)

#: Share of a limit by which sums of decimal fractions may differ.
_CLOSE = 1e-6

Spending = Callable[[Sequence[AnyEvent]], Iterator[float]]


class Falling(msgspec.Struct, frozen=True, kw_only=True):
    """One budget.

    Args:
        budget: its limit, and how it stood at the end.
        shares: what was left after each event, from 1 for all to 0; empty where nobody can tell.
    """

    budget: BudgetLine
    shares: tuple[float, ...] = ()


def falling(cell: Cell) -> tuple[Falling, ...]:
    """Every budget of a cell, in its order."""
    return tuple(Falling(budget=each, shares=_shares(each, cell.events)) for each in cell.budgets)


def _shares(budget: BudgetLine, events: Sequence[AnyEvent]) -> tuple[float, ...]:
    spending = _SPENDING.get(budget.name)
    if spending is None or not events or not 0 < budget.limit < math.inf:
        return ()
    spent = tuple(accumulate(spending(events)))
    left = tuple(max(0.0, budget.limit - each) for each in spent)
    close = _CLOSE * budget.limit
    agrees = abs(spent[-1] - budget.spent) <= close and abs(left[-1] - budget.remaining) <= close
    return tuple(min(1.0, each / budget.limit) for each in left) if agrees else ()


def _requests(used: Callable[[ModelRequest], float]) -> Spending:
    """What is spent by requests that are not held back."""

    def spending(events: Sequence[AnyEvent]) -> Iterator[float]:
        for event in events:
            if isinstance(event, ModelRequest) and event.says != UNASKED:
                yield used(event)
            else:
                yield 0.0

    return spending


def _tool_calls(events: Sequence[AnyEvent]) -> Iterator[float]:
    return (float(_is_let_through(event)) for event in events)


def _is_let_through(event: AnyEvent) -> bool:
    return isinstance(event, Decided) and event.decision is Decision.ALLOW


def _side_effects(events: Sequence[AnyEvent]) -> Iterator[float]:
    """A write takes one when it is let through, and gives it back when nothing has happened."""
    writes = {
        event.tool
        for event in events
        if isinstance(event, Dispatch) and event.effect is Effect.WRITE
    }
    for event in events:
        yield _taken(event) if getattr(event, "tool", None) in writes else 0.0


def _taken(event: AnyEvent) -> float:
    match event:
        case Decided(decision=Decision.ALLOW):
            return 1.0
        case Settled(status=Status.DENIED | Status.DEFINITE):
            return -1.0
        case Reconciled(status=WriteStatus.REJECTED):
            return -1.0
    return 0.0


def _children(events: Sequence[AnyEvent]) -> Iterator[float]:
    return (float(isinstance(event, ChildBegun)) for event in events)


def _seconds(events: Sequence[AnyEvent]) -> Iterator[float]:
    before = 0.0
    for event in events:
        yield event.at - before
        before = event.at


_SPENDING: dict[str, Spending] = {
    "max_turns": _requests(lambda _: 1.0),
    "max_tool_calls": _tool_calls,
    "max_side_effects": _side_effects,
    "max_model_cost_usd": _requests(lambda request: float(request.cost_usd)),
    "max_tokens": _requests(
        lambda request: float(request.prompt_tokens + request.completion_tokens)
    ),
    "max_subagents": _children,
    "deadline_s": _seconds,
}
