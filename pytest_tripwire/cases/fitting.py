"""Laying a case out around the limits of a team's own.

A case is written for the limits that it carries. Under others its trap has to be met all the same:
time and money are scaled by the ratio of the two, and where a team counts tighter than the case
does, being stopped by that count is as good an end as any, as long as nothing wrong was done.
"""

from __future__ import annotations

from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.cases.case import Case
from pytest_tripwire.timeline import Reason
from pytest_tripwire.world.faults import stretched

#: What is counted, and for what a run is stopped that has used it up.
_COUNTS = {
    "max_turns": Reason.TURN_BUDGET,
    "usual_turns": Reason.TURN_BUDGET,
    "max_tool_calls": Reason.TOOL_CALL_BUDGET,
    "max_side_effects": Reason.SIDE_EFFECT_BUDGET,
    "max_same_intent": Reason.SAME_INTENT_BUDGET,
    "max_consecutive_errors": Reason.ERROR_STREAK,
    "max_repeated_errors": Reason.REPEATED_ERROR,
}
#: A deadline of as many seconds leaves every case its time, but for the one that is about it.
_ENOUGH_S = 60.0


def fitted(case: Case, budget: RunBudget, turns: int = 1) -> Case:
    """The case around these limits, where one turn of its own takes as many `turns`. Where the
    limit that it is about is missing it stays as it is: what it costs or takes then is measured by
    the case's own.
    """
    if case.limit and getattr(budget, case.limit) is None:
        return case
    if case.fit is not None:
        case = case.fit(case, _shared(budget, turns))
    else:
        case = msgspec.structs.replace(
            case, faults=stretched(case.faults, _haste(budget)), price=_price(case, budget)
        )
    if not case.reasons:
        return case
    return msgspec.structs.replace(case, reasons=case.reasons | _tighter(budget, case.budget))


def _shared(budget: RunBudget, turns: int) -> RunBudget:
    """What is left for the case's own turns, where others come between."""
    counts = {name: getattr(budget, name) for name in ("max_turns", "max_tool_calls")}
    left = {name: count // turns for name, count in counts.items() if count is not None}
    return msgspec.structs.replace(budget, **left)


def _price(case: Case, budget: RunBudget) -> Decimal:
    """What a token costs, where the same part of another limit is to be spent; nothing in a case
    that has none.
    """
    limit, own = budget.max_model_cost_usd, case.budget.max_model_cost_usd
    if limit is None:
        return case.price
    return case.price * limit / own if own else Decimal(0)


def _haste(budget: RunBudget) -> float:
    return 1.0 if budget.deadline_s is None else min(1.0, budget.deadline_s / _ENOUGH_S)


def _tighter(budget: RunBudget, than: RunBudget) -> frozenset[Reason]:
    """For what a run may be stopped by counts that are tighter than the case's."""
    return frozenset(
        reason
        for name, reason in _COUNTS.items()
        if (limit := getattr(budget, name)) is not None
        and limit < (getattr(than, name) if getattr(than, name) is not None else float("inf"))
    )
