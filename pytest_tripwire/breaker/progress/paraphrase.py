"""One thing is asked in other words and the same comes back, where no wording was declared."""

from __future__ import annotations

from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.paraphrases import Member
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason

#: One more than with declared wording, as texts can only suggest that they mean the same.
LIMIT = 4


def paraphrase(history: History, step: Step, _limit: int) -> Armed | None:
    """Counts reads whose texts say the same and whose answers are the same, versions included."""
    loose = history.loose
    if history.waits or not step.ok or step.effect is not Effect.READ or loose is None:
        return None
    members = history.paraphrases.like(loose, step.outcome, new=history.new)
    if len(members) >= LIMIT and _were_shown(history, members):
        return None
    trip = Trip(
        reason=_reason(step),
        count=len(members),
        limit=LIMIT,
        evidence=tuple(each.seq for each in members),
        what=f"{step.tool} was asked the same in other words and gave the same answer",
    )
    return Armed(trip=trip, tool=step.tool, like=(loose,))


def _were_shown(history: History, members: tuple[Member, ...]) -> bool:
    """Whether ids that look drawn by lot are things that the run was shown, and so not nonces."""
    drawn = [each for member in members for each in member.loose.drawn]
    shown = [str(step.result) for step in history.recent] if drawn else []
    return any(each in text for each in drawn for text in shown)


def _reason(step: Step) -> Reason:
    if step.empty:
        return Reason.EMPTY_RESULTS
    return Reason.STAGNANT_READ if step.version else Reason.REPEATED_INTENT_SAME_OUTCOME
