"""So many calls within a minute and no more; whoever comes later is told when to come again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.reconcile import is_settling
from pytest_tripwire.timeline import Decision, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_LATER = "Too many calls within a minute. {tool} was not run; try again in {wait:g} s."


def rate_limit(run: Core, proposal: Proposal) -> Finding | None:
    """Refuses a call above the rate. A read that settles a held write is free of it."""
    if run.rate is None:
        return None
    wait = run.rate.retry_after(run.clock.now())
    if wait <= 0 or is_settling(run, proposal):
        return None
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.RATE_LIMIT,
        message=_LATER.format(tool=proposal.spec.name, wait=wait),
        retry_after_s=wait,
    )
