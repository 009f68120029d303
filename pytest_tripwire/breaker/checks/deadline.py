"""Nothing starts after the deadline, nor what would not end before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal, stop_for
from pytest_tripwire.timeline import Decision, Reason

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_PASSED = "The time of this run is over. No tool runs any more: finish with what you know."
_TOO_LONG = (
    "{tool} takes about {needed:g} s and {left:g} s are left, so it was not started. "
    "Do what is shorter, or finish with what you know."
)


def deadline(run: Core, proposal: Proposal) -> Finding | None:
    """Stops the run once its time is over; refuses a call that is known to take longer."""
    left = run.time_left
    if left is None:
        return None
    if left <= 0:
        return passed()
    needed = proposal.spec.expected_duration_s
    if needed is None or needed <= left:
        return None
    return Finding(
        decision=Decision.REFUSE,
        reason=Reason.DEADLINE,
        message=_TOO_LONG.format(tool=proposal.call.tool, needed=needed, left=left),
    )


def passed() -> Finding:
    """The end of a run whose time is over."""
    return stop_for(Reason.DEADLINE, _PASSED)
