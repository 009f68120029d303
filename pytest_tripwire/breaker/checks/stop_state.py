"""A run that left `open` dispatches nothing that could change anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.reconcile import settles
from pytest_tripwire.timeline import Decision, Effect, Family, Mode, Reason, WriteStatus

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

_OVER = "This run is stopped ({reason}). No tool runs any more: finish with what you know."
_ENDED = "This run has come to its end. No tool runs in it any more: begin a new one."
_HELD = (
    "The outcome of an earlier write is unknown ({reason}), so this run may only read what settles "
    "it. Do not try again: say that the outcome is not known yet and that a person will look."
)


def stop_state(run: Core, proposal: Proposal) -> Finding | None:
    """Everything is refused in `stopped`. In `read_only` a write or a hand-off stops the run; what
    may be read depends on why it is read-only.
    """
    if run.state.ended and run.mode is not Mode.STOPPED:
        return _ended()
    if run.mode is Mode.OPEN or run.stop is None:
        return None
    if run.mode is Mode.STOPPED or proposal.spec.effect is not Effect.READ:
        return _lost_write(run, proposal) or over(run.stop)
    if may_read(run, proposal):
        return None
    if run.stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        return _again(run.stop, Decision.REFUSE, _HELD, None)
    return over(run.stop)


def _lost_write(run: Core, proposal: Proposal) -> Finding | None:
    """A spent budget never hides that a write was lost."""
    stop = run.stop
    if stop is None or stop.reason.family is not Family.BUDGET or not proposal.spec.mutates:
        return None
    known = run.ledger.bearing(proposal.intent.resource, "")
    lost = next((each for each in known if each.status is WriteStatus.UNKNOWN), None)
    if lost is None:
        return None
    return Finding(
        decision=Decision.INTERRUPT,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_OVER.format(reason=stop.reason),
        entry=lost,
        mode=Mode.STOPPED,
    )


def _ended() -> Finding:
    return Finding(decision=Decision.REFUSE, reason=Reason.CANCELLED, message=_ENDED)


def over(stop: Finding) -> Finding:
    """What everything is told once the run is stopped, whatever it was stopped by."""
    return _again(stop, Decision.INTERRUPT, _OVER, Mode.STOPPED)


def may_read(run: Core, proposal: Proposal) -> bool:
    """Over an unknown write: what settles it. In a run that was taken up read-only: anything. When
    nothing moves: one read that can tell why.
    """
    if run.stop is None or run.stop.any_read:
        return True
    if run.stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        return not run.state.held or settles(proposal, run)
    return proposal.spec.can_diagnose and not run.state.diagnosed


def _again(stop: Finding, decision: Decision, message: str, mode: Mode | None) -> Finding:
    return Finding(
        decision=decision,
        reason=stop.reason,
        message=message.format(reason=stop.reason),
        evidence=stop.evidence,
        mode=mode,
    )
