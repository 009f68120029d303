"""What the controller finds by itself, and how a finding is told."""

from __future__ import annotations

from pytest_tripwire.breaker.finding import Finding, stop_for
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Decision, Mode, Reason, Verdict, WriteEntry

_LEFT_UNKNOWN = "The run ended while the outcome of a write of {tool} was unknown."
_ELSEWHERE = (
    "This run was taken up by somebody else since, so nothing is written here any more. Finish "
    "with what you know."
)
_TOO_LATE = (
    "{tool} was decided about too long ago and was not begun; others may have acted on it since. "
    "Propose it again if it is still needed."
)
_STUCK = "{what} ({count} times), so the run was stopped. Finish with what you know."
_NUDGE = (
    "{what} ({count} times). If the next try brings nothing new either, this run is stopped: try "
    "something else, or finish with what you know."
)


def verdict_of(finding: Finding) -> Verdict:
    """The verdict that tells a finding."""
    return Verdict(
        decision=finding.decision,
        reason=finding.reason,
        message=finding.message,
        evidence=finding.evidence,
        answer=finding.answer,
        retry_after_s=finding.retry_after_s,
    )


def nudge(trip: Trip) -> str:
    """The hint one step before a stop."""
    return _NUDGE.format(what=_sentence(trip.what), count=trip.count)


def stuck(trip: Trip) -> Finding:
    """The end of a run that gets nowhere, but for one read that can tell why."""
    return Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=trip.reason,
        message=_STUCK.format(what=_sentence(trip.what), count=trip.count),
        evidence=trip.evidence,
        mode=Mode.READ_ONLY,
    )


def left_unknown(entry: WriteEntry, evidence: list[int]) -> Finding:
    """The end of a run that leaves a write behind whose outcome nobody knows."""
    return Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_LEFT_UNKNOWN.format(tool=entry.tool),
        evidence=tuple(evidence),
        mode=Mode.READ_ONLY,
        entry=entry,
    )


def taken_up_elsewhere() -> Finding:
    """The end of a run that somebody else has taken up since."""
    return stop_for(Reason.STALE_RESUME, _ELSEWHERE)


def too_late(tool: str) -> Finding:
    """A write that was let through so long ago that nobody answers for it any more."""
    return Finding(
        decision=Decision.REFUSE, reason=Reason.STALE_RESUME, message=_TOO_LATE.format(tool=tool)
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
