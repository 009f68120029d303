"""A no is a fact about the intent, whatever words and whatever road it is proposed by next.

The same request is not sent again; another tool of the operation is not tried on the same
resource. A changed request through the same tool is a new question and may be asked once: asking
for less after "too much" is good work.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from pytest_tripwire.breaker.finding import DenialSeen, Finding, Proposal
from pytest_tripwire.breaker.fingerprint import resource_of
from pytest_tripwire.timeline import Decision, Effect, Mode, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

#: Denials of one rule after which no other question about the resource is let through.
QUESTIONS = 2

_AGAIN = (
    "This was denied before (rule {rule}), and it is the same request in other words or by another "
    "tool. It was not sent. Say that it is not possible, or ask a person."
)


def earlier_denial(run: Core, proposal: Proposal) -> Finding | None:
    """Refuses a denied write once, then stops the run."""
    if proposal.spec.effect is Effect.READ or not run.state.denials:
        return None
    key = denial_key(proposal)
    seen = run.state.denials.get(key)
    if seen is not None and not is_new_question(seen, proposal):
        return _again(seen.rules[-1], seen.evidence, refused=seen.refused, key=key)
    loose = run.state.history.free.loosen(proposal.call, proposal.spec)
    evidence = run.state.denied.repeats(proposal, loose)
    if not evidence:
        return None
    known = next(
        (each for each in run.state.denials.items() if set(evidence) & set(each[1].evidence)), None
    )
    if known is None:
        return None
    return _again(known[1].rules[-1], evidence, refused=known[1].refused, key=known[0])


def denial_key(proposal: Proposal) -> tuple[str, str]:
    """What denials are counted by: the class, where tools share one, and what is acted on."""
    spec, resource = proposal.spec, proposal.intent.resource
    if spec.denial_class is None:
        return spec.kind, resource
    shared = msgspec.structs.replace(spec, operation=spec.denial_class)
    return spec.denial_class, resource_of(proposal.call.arguments, shared, "")


def _again(rule: str, evidence: tuple[int, ...], *, refused: int, key: tuple[str, str]) -> Finding:
    stop = refused > 0
    return Finding(
        decision=Decision.INTERRUPT if stop else Decision.REFUSE,
        reason=Reason.REPEATED_DENIAL,
        message=_AGAIN.format(rule=rule),
        evidence=evidence,
        mode=Mode.STOPPED if stop else None,
        denial=key,
    )


def is_new_question(seen: DenialSeen, proposal: Proposal) -> bool:
    """Whether a proposal asks something that this denial has not answered."""
    same_road = proposal.call.tool == seen.tool
    asked = proposal.intent.digest in seen.intents
    worn = max(Counter(seen.rules).values()) >= QUESTIONS
    return same_road and not asked and not seen.refused and not worn
