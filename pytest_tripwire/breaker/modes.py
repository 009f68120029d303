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
        """Enter the mode that `finding` asks for, unless the run is in it or past it. The record
        is stored before anybody is told.
        """
        mode = finding.mode or Mode.STOPPED
        if self._core.shadow:
            self._core.state.would.append(finding)
            return
        if _RANK[mode] <= _RANK[self._core.state.mode]:
            return
        self._core.state.mode = mode
        self._core.state.stop = self._core.state.stop or finding
        self.keep_record()
        self._core.events.append(ModeChange(reason=self._core.state.stop.reason, mode=mode))

    def keep_record(self) -> None:
        """Store the record as it now stands; a write that settles late belongs in it too. A run
        that was taken up again by others since keeps its hands off.
        """
        stop = self._core.state.stop
        if stop is not None and not self._is_superseded():
            self._core.ledger.store_record(
                record(
                    self._core.context,
                    self._core.state,
                    stop,
                    budgets=self._core.accounts.lines(),
                    writes=self._core.ledger.of_run(self._core.context.run_id),
                    elapsed_s=self._core.clock.now() - self._core.context.started_at,
                )
            )

    def _is_superseded(self) -> bool:
        known = self._core.ledger.record_of(self._core.context.run_id)
        return known is not None and known.token_version != self._core.context.token_version

    def reopen(self) -> None:
        """Reconciliation is the one road from `read_only` back to `open`."""
        stop = self._core.state.stop
        if stop is None or self._core.state.held or self._core.state.mode is not Mode.READ_ONLY:
            return
        if stop.reason is not Reason.UNKNOWN_SIDE_EFFECT or stop.any_read:
            return
        self._core.state.mode = Mode.OPEN
        self.keep_record()
        kept = self._core.ledger.record_of(self._core.context.run_id)
        if kept is not None:
            self._core.ledger.store_record(msgspec.structs.replace(kept, ended_as="reconciled"))
        self._core.events.append(ModeChange(reason=stop.reason, mode=Mode.OPEN))
        self._core.state.stop = None
