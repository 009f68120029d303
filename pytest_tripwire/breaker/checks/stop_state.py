"""A run that left `open` dispatches nothing that could change anything."""

from __future__ import annotations

from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View
from pytest_tripwire.breaker.reconcile import settles
from pytest_tripwire.timeline import Decision, Effect, Mode, Reason

_OVER = "This run is stopped ({reason}). No tool runs any more: finish with what you know."
_HELD = (
    "The outcome of an earlier write is unknown ({reason}), so this run may only read what settles "
    "it. Do not try again: say that the outcome is not known yet and that a person will look."
)


def stop_state(view: View, proposal: Proposal) -> Finding | None:
    """Everything is refused in `stopped`. In `read_only` a write or a hand-off stops the run; what
    may be read depends on why it is read-only.
    """
    if view.mode is Mode.OPEN or view.stop is None:
        return None
    if view.mode is Mode.STOPPED or proposal.spec.effect is not Effect.READ:
        return over(view.stop)
    if may_read(view, proposal):
        return None
    if view.stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        return _again(view.stop, Decision.REFUSE, _HELD, None)
    return over(view.stop)


def over(stop: Finding) -> Finding:
    """What everything is told once the run is stopped, whatever it was stopped by."""
    return _again(stop, Decision.INTERRUPT, _OVER, Mode.STOPPED)


def may_read(view: View, proposal: Proposal) -> bool:
    """Over an unknown write: what settles it. After a stale resume: anything. When nothing moves:
    one read that can tell why.
    """
    if view.stop is None:
        return True
    if view.stop.reason is Reason.UNKNOWN_SIDE_EFFECT:
        return not view.held or settles(proposal, view)
    if view.stop.reason is Reason.STALE_RESUME:
        return True
    return proposal.spec.can_diagnose and not view.diagnosed


def _again(stop: Finding, decision: Decision, message: str, mode: Mode | None) -> Finding:
    return Finding(
        decision=decision,
        reason=stop.reason,
        message=message.format(reason=stop.reason),
        evidence=stop.evidence,
        mode=mode,
    )
