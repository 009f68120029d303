"""The policy's word comes before any question of progress or money."""

from __future__ import annotations

from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View
from pytest_tripwire.timeline import Decision, Reason


def authorization(view: View, proposal: Proposal) -> Finding | None:
    """Refuses what the policy denies, naming the rule."""
    denial = view.policy(proposal.call, proposal.spec)
    if denial is None:
        return None
    told = denial.message or f"{proposal.call.tool} is not permitted here"
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.DENIED,
        message=f"{told} (rule {denial.rule}). Other words will not change this.",
    )
