"""A call whose arguments the tool cannot take is refused before anything happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.timeline import Decision, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core


def arguments(_run: Core, proposal: Proposal) -> Finding | None:
    """Refuses what the tool's signature refuses; the guard has bound the arguments to it."""
    if not proposal.problem:
        return None
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.INVALID_ARGUMENTS,
        message=f"{proposal.call.tool} was not called: {proposal.problem}. Correct the arguments.",
    )
