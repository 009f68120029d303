"""A task that was tried often enough is left alone; the run goes on with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.reconcile import is_settling
from pytest_tripwire.timeline import Decision, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core


def task_attempts(run: Core, proposal: Proposal) -> Finding | None:
    """Refuses a call of a try too many, but never the read that settles a held write."""
    attempt = proposal.attempt
    if attempt is None or attempt.allowed:
        return None
    if is_settling(run, proposal):
        return None
    return Finding(decision=Decision.REFUSE, reason=Reason.TASK_ATTEMPTS, message=attempt.message)
