"""No slot, no call. This only looks; the slot itself is taken when all else agrees."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from pytest_tripwire.breaker.accounts import ANY
from pytest_tripwire.breaker.budget import REASONS, Dimension
from pytest_tripwire.breaker.finding import Finding, Proposal, stop_for
from pytest_tripwire.breaker.reconcile import is_settling
from pytest_tripwire.timeline import Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_SPENT = "The budget {name} of this run is spent. No tool runs any more: finish with what you know."
_FINAL = "This was the last turn. No tool runs any more: what you say now is the answer."


def needs(run: Core, proposal: Proposal) -> dict[Dimension, Decimal]:
    """What letting this call through takes. A read that settles a held write is free, so that a
    spent budget never keeps a write in doubt.
    """
    if is_settling(run, proposal):
        return {}
    slots = {Dimension.SIDE_EFFECTS: Decimal(1)} if proposal.spec.mutates else {}
    return {**slots, **_cost(run, proposal), Dimension.TOOL_CALLS: Decimal(1)}


def _cost(run: Core, proposal: Proposal) -> dict[Dimension, Decimal]:
    """What a tool costs: as declared, else the lowest that it has cost in this run. The last would
    let one dear call stop a cheap one.
    """
    cost = proposal.spec.cost or run.state.tool_costs.get(proposal.spec.name)
    return {Dimension.MODEL_COST: cost} if cost else {}


def budgets(run: Core, proposal: Proposal) -> Finding | None:
    """Stops the run when money, slots, patience with one intent or calls run out, in this order."""
    slots = needs(run, proposal)
    if not slots:
        return None
    if run.state.final:
        return stop_for(Reason.TOKEN_BUDGET, _FINAL)
    cost = slots.get(Dimension.MODEL_COST, ANY)
    short = run.accounts.short_of({Dimension.MODEL_COST: cost, Dimension.TOKENS: ANY})
    if short is None and Dimension.SIDE_EFFECTS in slots:
        short = run.accounts.short_of({Dimension.SIDE_EFFECTS: slots[Dimension.SIDE_EFFECTS]})
    if short is not None:
        return spent(short)
    done = run.state.executed.get(proposal.intent.digest, 0)
    if run.budget.max_same_intent is not None and done >= run.budget.max_same_intent:
        return stop_for(Reason.SAME_INTENT_BUDGET, _SPENT.format(name="max_same_intent"))
    short = run.accounts.short_of(slots)
    return None if short is None else spent(short)


def spent(dimension: Dimension) -> Finding:
    """The end of a run for want of `dimension`."""
    return stop_for(REASONS[dimension], _SPENT.format(name=dimension.value))
