"""No slot, no call. This only looks; the slot itself is taken when all else agrees."""

from __future__ import annotations

from pytest_tripwire.breaker.budget import REASONS, Dimension
from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View
from pytest_tripwire.breaker.reconcile import settles
from pytest_tripwire.timeline import Decision, Mode

_SPENT = "The budget {name} of this run is spent. No tool runs any more: finish with what you know."


def needs(view: View, proposal: Proposal) -> dict[Dimension, float]:
    """What letting this call through takes, scarcest first. A read that settles a held write is
    free, so that a spent budget never keeps a write in doubt."""
    if view.mode is Mode.READ_ONLY and settles(proposal, view):
        return {}
    slots: dict[Dimension, float] = {Dimension.SIDE_EFFECTS: 1} if proposal.spec.mutates else {}
    return {**slots, Dimension.TOOL_CALLS: 1}


def budgets(view: View, proposal: Proposal) -> Finding | None:
    """Stops the run when a budget cannot give what the call takes."""
    short = view.accounts.short_of(needs(view, proposal))
    return None if short is None else spent(short)


def spent(dimension: Dimension) -> Finding:
    """The end of a run for want of `dimension`."""
    return Finding(
        decision=Decision.INTERRUPT,
        reason=REASONS[dimension],
        message=_SPENT.format(name=dimension.value),
        mode=Mode.STOPPED,
    )
