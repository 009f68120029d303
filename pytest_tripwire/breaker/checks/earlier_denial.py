"""A no is a fact about the intent, whatever words and whatever road it is proposed by next.

The same request is not sent again; another tool of the operation is not tried on the same
resource. A changed request through the same tool is a new question and may be asked once: asking
for less after "too much" is good work.
"""

from __future__ import annotations

from collections import Counter

from pytest_tripwire.breaker.checks.finding import DenialSeen, Finding, Proposal, View
from pytest_tripwire.timeline import Decision, Effect, Mode, Reason

#: Denials of one rule after which no other question about the resource is let through.
QUESTIONS = 2

_AGAIN = (
    "This was denied before (rule {rule}), and it is the same request in other words or by another "
    "tool. It was not sent. Say that it is not possible, or ask a person."
)


def earlier_denial(view: View, proposal: Proposal) -> Finding | None:
    """Refuses a denied write once, then stops the run."""
    key = (proposal.spec.kind, proposal.intent.resource)
    seen = view.denials.get(key)
    if seen is None or proposal.spec.effect is Effect.READ or is_new_question(seen, proposal):
        return None
    stop = seen.refused > 0
    return Finding(
        decision=Decision.INTERRUPT if stop else Decision.REFUSE,
        reason=Reason.REPEATED_DENIAL,
        message=_AGAIN.format(rule=seen.rules[-1]),
        evidence=seen.evidence,
        mode=Mode.STOPPED if stop else None,
        denial=key,
    )


def is_new_question(seen: DenialSeen, proposal: Proposal) -> bool:
    """Whether a proposal asks something that this denial has not answered."""
    same_road = proposal.call.tool == seen.tool
    asked = proposal.intent.digest in seen.intents
    worn = max(Counter(seen.rules).values()) >= QUESTIONS
    return same_road and not asked and not seen.refused and not worn
