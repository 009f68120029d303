"""The same question is not asked again before the earlier answers are there.

Calls in flight count like those that came back, or one message with ten equal calls would get past
every rule that looks at answers. Different questions side by side are good work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.timeline import Decision, Effect, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_WAIT = (
    "{tool} is under way with this very question {count} times already, so it was not asked again. "
    "Wait for the answers."
)


def in_flight(run: Core, proposal: Proposal) -> Finding | None:
    """Refuses a read of which as many are under way as may be fruitless."""
    if proposal.spec.effect is not Effect.READ or proposal.spec.poll:
        return None
    count = run.in_flight(proposal.intent.digest)
    if count < run.patience:
        return None
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.REPEATED_INTENT_SAME_OUTCOME,
        message=_WAIT.format(tool=proposal.call.tool, count=count),
    )
