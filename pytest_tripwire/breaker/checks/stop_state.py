"""A run that left `open` dispatches nothing that could change anything."""

from __future__ import annotations

from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View
from pytest_tripwire.breaker.reconcile import settles
from pytest_tripwire.timeline import Decision, Effect, Mode, Reason

_OVER = "This run is stopped ({reason}). No tool runs any more: finish with what you know."
_ENDED = "This run has come to its end. No tool runs in it any more: begin a new one."
_HELD = (
    "The outcome of an earlier write is unknown ({reason}), so this run may only read what settles "
    "it. Do not try again: say that the outcome is not known yet and that a person will look."
)


def stop_state(view: View, proposal: Proposal) -> Finding | None:
    """Everything is refused in `stopped`. In `read_only` a write or a hand-off stops the run; what
    may be read depends on why it is read-only.
    """
    if view.ended and view.mode is not Mode.STOPPED:
        return _ended()
    if view.mode is Mode.OPEN or view.stop is None:
        return None
    if view.mode is Mode.STOPPED or proposal.spec.effect is not Effect.READ:
        return over(view.stop)
    if may_read(view, proposal):
        return None
    if view.stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        return _again(view.stop, Decision.REFUSE, _HELD, None)
    return over(view.stop)


def _ended() -> Finding:
    return Finding(decision=Decision.REFUSE, reason=Reason.CANCELLED, message=_ENDED)


def over(stop: Finding) -> Finding:
    """What everything is told once the run is stopped, whatever it was stopped by."""
    return _again(stop, Decision.INTERRUPT, _OVER, Mode.STOPPED)


def may_read(view: View, proposal: Proposal) -> bool:
    """Over an unknown write: what settles it. In a run that was taken up read-only: anything. When
    nothing moves: one read that can tell why.
    """
    if view.stop is None or view.stop.any_read:
        return True
    if view.stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        return not view.held or settles(proposal, view)
    return proposal.spec.can_diagnose and not view.diagnosed


def _again(stop: Finding, decision: Decision, message: str, mode: Mode | None) -> Finding:
    return Finding(
        decision=decision,
        reason=stop.reason,
        message=message.format(reason=stop.reason),
        evidence=stop.evidence,
        mode=mode,
    )
