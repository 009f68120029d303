"""The policy's word comes before any question of progress or money.

It is asked anew for every call, so a request that it allows now is not held against an earlier no.
A no by one rule about one resource is told twice; whoever asks a third time is stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.keeping import rule_named
from pytest_tripwire.breaker.port import Denial
from pytest_tripwire.timeline import Decision, Mode, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

#: Times that a no is told before asking again stops the run.
TOLD = 2


def authorization(run: Core, proposal: Proposal) -> Finding | None:
    """Refuses what the policy denies, naming the rule."""
    denial = _asked(run, proposal)
    if denial is None:
        return None
    rule = rule_named(denial.rule)
    key = (proposal.spec.kind, proposal.intent.resource, rule)
    stop = run.state.policy_denials.get(key, 0) >= TOLD
    # Why a run was stopped is kept, and the policy's own words may hold anything.
    own = "" if stop else denial.message
    told = own or f"{proposal.call.tool} is not permitted here"
    return Finding(
        decision=Decision.INTERRUPT if stop else Decision.REFUSE,
        reason=Reason.REPEATED_DENIAL if stop else Reason.DENIED,
        message=f"{told} (rule {rule}). Other words will not change this.",
        mode=Mode.STOPPED if stop else None,
        rule=rule,
    )


def _asked(run: Core, proposal: Proposal) -> Denial | None:
    """The policy's word. One that fails on what the model sent has not said yes."""
    try:
        return run.policy(proposal.call, proposal.spec)
    except Exception as error:  # noqa: BLE001 - a policy may raise anything on hostile arguments
        return Denial(rule=f"policy failed ({type(error).__name__})")
