"""One more of what has brought nothing again and again is not let through.

Only for what nobody has declared: a rule that is certain has stopped the run by then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.findings import stuck
from pytest_tripwire.breaker.progress.coverage import part_of
from pytest_tripwire.timeline import Effect

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core


def progress(run: Core, proposal: Proposal) -> Finding | None:
    """Stops the run at the next call of a kind that a rule waits for."""
    history = run.state.history
    if not history.armed or proposal.spec.poll:
        return None
    loose = history.free.loosen(proposal.call, proposal.spec)
    tool, speaker = proposal.spec.name, proposal.speaker
    waiting = [each for each in history.armed if each.concerns(tool, speaker)]
    if not waiting:
        return None
    reads = proposal.spec.effect is Effect.READ
    part = part_of(proposal.call, proposal.spec, speaker) if reads else None
    if part is not None and not history.coverage.holds(part):
        part = None
    spelled = history.free.spelled(proposal.call, proposal.spec)
    for armed in waiting:
        if armed.fits(tool, loose, part, spelled):
            return stuck(armed.trip)
    return None
