"""No slot, no call. This only looks; the slot itself is taken when all else agrees."""

from __future__ import annotations

from decimal import Decimal

from pytest_tripwire.breaker.accounts import ANY
from pytest_tripwire.breaker.budget import REASONS, Dimension
from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View, stop_for
from pytest_tripwire.breaker.reconcile import settles
from pytest_tripwire.timeline import Mode, Reason

_SPENT = "The budget {name} of this run is spent. No tool runs any more: finish with what you know."
_FINAL = "This was the last turn. No tool runs any more: what you say now is the answer."


def needs(view: View, proposal: Proposal) -> dict[Dimension, Decimal]:
    """What letting this call through takes. A read that settles a held write is free, so that a
    spent budget never keeps a write in doubt.
    """
    if view.mode is Mode.READ_ONLY and settles(proposal, view):
        return {}
    slots = {Dimension.SIDE_EFFECTS: Decimal(1)} if proposal.spec.mutates else {}
    return {**slots, Dimension.TOOL_CALLS: Decimal(1)}


def budgets(view: View, proposal: Proposal) -> Finding | None:
    """Stops the run when money, slots, patience with one intent or calls run out, in this order."""
    slots = needs(view, proposal)
    if not slots:
        return None
    if view.final:
        return stop_for(Reason.TOKEN_BUDGET, _FINAL)
    short = view.accounts.short_of({Dimension.MODEL_COST: ANY, Dimension.TOKENS: ANY})
    if short is None and Dimension.SIDE_EFFECTS in slots:
        short = view.accounts.short_of({Dimension.SIDE_EFFECTS: slots[Dimension.SIDE_EFFECTS]})
    if short is not None:
        return spent(short)
    done = view.executed.get(proposal.intent.digest, 0)
    if view.max_same_intent is not None and done >= view.max_same_intent:
        return stop_for(Reason.SAME_INTENT_BUDGET, _SPENT.format(name="max_same_intent"))
    short = view.accounts.short_of(slots)
    return None if short is None else spent(short)


def spent(dimension: Dimension) -> Finding:
    """The end of a run for want of `dimension`."""
    return stop_for(REASONS[dimension], _SPENT.format(name=dimension.value))
