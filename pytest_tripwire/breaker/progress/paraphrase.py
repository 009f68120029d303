"""One thing is asked in other words and the same comes back, where no wording was declared."""

from __future__ import annotations

from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.paraphrases import Member
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Effect, Reason

#: One more than with declared wording, as texts can only suggest that they mean the same.
LIMIT = 4
#: Where one record is named and its version stays, the words need not be alike.
ABOUT_LIMIT = 5
#: Writes that leave the version as it was.
WRITES_LIMIT = 3


def paraphrase(history: History, step: Step, _limit: int) -> Armed | None:
    """Counts reads whose texts say the same and whose answers are the same, versions included."""
    loose = history.loose
    if history.waits or not step.ok or step.effect is Effect.HANDOFF or loose is None:
        return None
    if step.effect is Effect.WRITE:
        return _written(history, step, loose)
    members = history.paraphrases.like(loose, step.heard, new=history.new)
    limit = LIMIT
    if len(members) < LIMIT and step.version and not step.empty and loose.named:
        # One record at one version, asked about in whatever words.
        limit = ABOUT_LIMIT
        members = history.paraphrases.like(loose, step.heard, new=history.new, same=Loose.about)
    if len(members) >= LIMIT and _were_shown(history, members):
        return None
    trip = Trip(
        reason=_reason(step),
        count=len(members),
        limit=limit,
        evidence=tuple(each.seq for each in members),
        what=f"{step.tool} was asked the same in other words and gave the same answer",
    )
    about = limit == ABOUT_LIMIT
    return Armed(trip=trip, tool=step.tool, like=(loose,), about=about, speaker=step.speaker)


def _written(history: History, step: Step, loose: Loose) -> Armed:
    """A write in other words that leaves the version as it was has changed nothing."""
    members = history.paraphrases.like(loose, step.heard, new=history.new)
    trip = Trip(
        reason=Reason.REPEATED_INTENT_SAME_OUTCOME,
        count=len(members),
        limit=WRITES_LIMIT,
        evidence=tuple(each.seq for each in members),
        what=f"{step.tool} was called in other words and left version {step.version} as it was",
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
