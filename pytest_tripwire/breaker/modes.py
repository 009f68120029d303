"""The one way from `open` to `read_only` to `stopped`, and the one way back."""

from __future__ import annotations

import msgspec

from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.records import record
from pytest_tripwire.timeline import Mode, ModeChange, Reason

_RANK = {Mode.OPEN: 0, Mode.READ_ONLY: 1, Mode.STOPPED: 2}


class Modes:
    """Moves a run between modes, and keeps its record up to date. Used under the run's lock."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def leave_open(self, finding: Finding) -> None:
        """Enter the mode that `finding` asks for, unless the run is in it or past it; so do those
        that work for it. The records are stored before anybody is told. A run that is only watched
        stays where it is.
        """
        core, mode = self._core, finding.mode or Mode.STOPPED
        # What an earlier part of the run has seen are events of another timeline.
        evidence = tuple(seq for seq in finding.evidence if seq)
        asked = msgspec.structs.replace(finding, mode=mode, evidence=evidence)
        if core.shadow is not None:
            if core.shadow.note(asked):
                core.events.append(_change(asked, mode, Mode.OPEN))
            return
        moved = _moved(core, asked, mode)
        for each, _ in moved:
            Modes(each).keep_record()
        for each, was in moved:
            each.events.append(_change(each.state.stop or asked, mode, was))

    def keep_record(self) -> None:
        """Store the record as it now stands; a write that settles late belongs in it too. A run
        that was taken up again by others since keeps its hands off.
        """
        core, stop = self._core, self._core.state.stop
        if stop is not None and not self._is_superseded():
            writes = core.ledger.of_run(core.run_id)
            core.ledger.store_record(record(core, stop, writes=writes))

    def _is_superseded(self) -> bool:
        known = self._core.ledger.record_of(self._core.run_id)
        return known is not None and known.token_version != self._core.context.token_version

    def reopen(self) -> None:
        """Reconciliation is the one road from `read_only` back to `open`: for the whole family, as
        what is held is held for all of it.
        """
        ended = [] if self._core in self._core.kin else [self._core]
        for each in [*self._core.kin.members, *ended]:
            if _may_reopen(each):
                Modes(each).go_on()

    def go_on(self) -> None:
        """Enter `open` again."""
        core, stop = self._core, self._core.state.stop
        core.state.mode = Mode.OPEN
        self.keep_record()
        kept = core.ledger.record_of(core.run_id)
        if kept is not None and kept.token_version == core.context.token_version:
            core.ledger.store_record(msgspec.structs.replace(kept, ended_as="reconciled"))
        core.state.stop = None
        if stop is not None:
            core.events.append(_change(stop, Mode.OPEN, Mode.READ_ONLY))


def _moved(core: Core, finding: Finding, mode: Mode) -> list[tuple[Core, Mode]]:
    """Those of a run and its children that enter `mode` now, and the mode that each was in."""
    moved, was = [], core.state.mode
    if _RANK[mode] > _RANK[was]:
        core.state.mode = mode
        if core.state.stop is None:
            core.state.stop, core.state.stopped_at = finding, core.clock.now()
        moved.append((core, was))
    inherited = msgspec.structs.replace(finding, entry=None, reconcile=False, answer=None)
    for child in core.children:
        if not child.state.ended:
            moved += _moved(child, inherited, mode)
    return moved


def _may_reopen(core: Core) -> bool:
    stop = core.state.stop
    if stop is None or core.state.held or core.state.mode is not Mode.READ_ONLY:
        return False
    return stop.reason is Reason.UNKNOWN_SIDE_EFFECT and not stop.any_read


def _change(stop: Finding, mode: Mode, was: Mode) -> ModeChange:
    return ModeChange(reason=stop.reason, mode=mode, was=was, evidence=stop.evidence)
