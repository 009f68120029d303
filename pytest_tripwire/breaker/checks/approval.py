"""What a person has to say yes to first, and whether the yes that was given still holds.

Asked in two places: a yes to something else, to what has changed since, or one that has expired
weighs as much as an unknown write; that nobody has been asked yet is the last question of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.approvals import Standing
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.timeline import Decision, Effect, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_ASK = "{tool} needs a person's approval before it runs. It was put up for that; do not ask again."
_STALE = (
    "What was approved for {tool} is not what would run now: {why}. It was not run; a person has "
    "to look again."
)
_WAITING = (
    "{tool} waits for a person's approval already. It was not run; asking again changes nothing."
)


def approved(run: Core, proposal: Proposal) -> Finding | None:
    """Asks again where the yes that was given is no longer one to this call."""
    if proposal.spec.effect is Effect.READ:
        return None
    now = run.clock.now()
    standing, parked = run.state.approvals.of(proposal, now=now)
    asked = proposal.spec.requires_approval or standing is not Standing.UNASKED
    if asked and run.ledger.durable:
        _look_again(run)
        standing, parked = run.state.approvals.of(proposal, now=now)
    if parked is None or standing is Standing.GRANTED:
        return None
    evidence = (parked.evidence,)
    if standing is Standing.WAITING:
        return Finding(
            decision=Decision.REFUSE,
            reason=Reason.REPEATED_DENIAL,
            message=_WAITING.format(tool=proposal.spec.name),
            evidence=evidence,
        )
    expired = standing is Standing.EXPIRED and not parked.resumed
    why = "it has expired" if standing is Standing.EXPIRED else _changed(parked.stale)
    return Finding(
        decision=Decision.REQUIRE_APPROVAL,
        reason=Reason.APPROVAL_EXPIRED if expired else Reason.STALE_RESUME,
        message=_STALE.format(tool=proposal.spec.name, why=why),
        evidence=evidence,
        parks=True,
    )


def _look_again(run: Core) -> None:
    """The yes may have been given, used up or become stale in another process."""
    approvals = run.state.approvals
    approvals.recall()
    approvals.under(run.context.policy)
    approvals.compare(run.state.versions)


def approval(run: Core, proposal: Proposal) -> Finding | None:
    """Puts a call up for approval that needs one and has none."""
    if not proposal.spec.requires_approval:
        return None
    standing, _ = run.state.approvals.of(proposal, now=run.clock.now())
    if standing is Standing.GRANTED:
        return None
    return Finding(
        decision=Decision.REQUIRE_APPROVAL,
        reason=Reason.DENIED,
        message=_ASK.format(tool=proposal.spec.name),
        parks=True,
    )


def _changed(stale: str) -> str:
    return f"{stale} has changed since" if stale else "the arguments are others"
