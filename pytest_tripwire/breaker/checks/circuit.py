"""A tool that is down is left alone for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.reconcile import is_settling
from pytest_tripwire.timeline import Decision

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core


def circuit(run: Core, proposal: Proposal) -> Finding | None:
    """Refuses what an open circuit refuses, but never the read that settles a held write."""
    refusal = run.circuits.peek(
        proposal.spec.name, proposal.intent.exact, turn=proposal.turn, now=run.clock.now()
    )
    if refusal is None or is_settling(run, proposal):
        return None
    return Finding(
        decision=Decision.REFUSE,
        reason=refusal.reason,
        message=refusal.message,
        evidence=refusal.evidence,
        circuit=refusal,
        retry_after_s=refusal.retry_after or 0.0,
    )
