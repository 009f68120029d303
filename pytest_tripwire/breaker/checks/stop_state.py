"""A run that left `open` dispatches nothing that could change anything."""

from __future__ import annotations

from pytest_tripwire.breaker.checks.finding import Finding, Proposal, View
from pytest_tripwire.breaker.reconcile import settles
from pytest_tripwire.timeline import Decision, Effect, Mode

_OVER = "This run is stopped ({reason}). No tool runs any more: finish with what you know."
_HELD = (
    "The outcome of an earlier write is unknown ({reason}), so this run may only read what settles "
    "it. Do not try again: say that the outcome is not known yet and that a person will look."
)


def stop_state(view: View, proposal: Proposal) -> Finding | None:
    """Everything is refused in `stopped`; in `read_only` a write or a hand-off stops the run, and
    only reads that settle the held write pass."""
    if view.mode is Mode.OPEN or view.stop is None:
        return None
    if view.mode is Mode.STOPPED or proposal.spec.effect is not Effect.READ:
        return over(view.stop)
    if settles(proposal, view):
        return None
    return _again(view.stop, Decision.REFUSE, _HELD, None)


def over(stop: Finding) -> Finding:
    """What everything is told once the run is stopped, whatever it was stopped by."""
    return _again(stop, Decision.INTERRUPT, _OVER, Mode.STOPPED)


def _again(stop: Finding, decision: Decision, message: str, mode: Mode | None) -> Finding:
    return Finding(
        decision=decision,
        reason=stop.reason,
        message=message.format(reason=stop.reason),
        evidence=stop.evidence,
        mode=mode,
    )
