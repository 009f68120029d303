"""The same question is not asked again before the earlier answers are there.

Calls in flight count like those that came back, or one message with ten equal calls would get past
every rule that looks at answers. Different questions side by side are good work, and so is the
same one of agents that cannot know of each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.progress.occurrences import SPEAKERS
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
    own = run.state.admissions.count(proposal.intent.digest, proposal.speaker)
    everybody = run.in_flight(proposal.intent.digest)
    if own < run.patience and everybody < run.patience * SPEAKERS:
        return None
    count = own if own >= run.patience else everybody
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.REPEATED_INTENT_SAME_OUTCOME,
        message=_WAIT.format(tool=proposal.call.tool, count=count),
    )
