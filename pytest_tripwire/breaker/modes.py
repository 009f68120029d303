"""The one way from `open` to `read_only` to `stopped`, and the one way back."""

from __future__ import annotations

import msgspec

from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.checks.finding import Finding
from pytest_tripwire.breaker.port import Clock, Ledger
from pytest_tripwire.breaker.records import record
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.timeline import BreakerEvent, Mode, ModeChange, Reason, Writer

_RANK = {Mode.OPEN: 0, Mode.READ_ONLY: 1, Mode.STOPPED: 2}


class Modes:
    """Moves a run between modes, and keeps its record up to date. Used under the run's lock."""

    def __init__(
        self,
        *,
        context: RunContext,
        state: RunState,
        accounts: Accounts,
        ledger: Ledger,
        clock: Clock,
        events: Writer[BreakerEvent],
    ) -> None:
        self._context = context
        self._state = state
        self._accounts = accounts
        self._ledger = ledger
        self._clock = clock
        self._events = events

    def leave_open(self, finding: Finding) -> None:
        """Enter the mode that `finding` asks for, unless the run is in it or past it. The record
        is stored before anybody is told.
        """
        mode = finding.mode or Mode.STOPPED
        if _RANK[mode] <= _RANK[self._state.mode]:
            return
        self._state.mode = mode
        self._state.stop = self._state.stop or finding
        self.keep_record()
        self._events.append(ModeChange(reason=self._state.stop.reason, mode=mode))

    def keep_record(self) -> None:
        """Store the record as it now stands; a write that settles late belongs in it too. A run
        that was taken up again by others since keeps its hands off.
        """
        stop = self._state.stop
        if stop is not None and not self._is_superseded():
            self._ledger.store_record(
                record(
                    self._context,
                    self._state,
                    stop,
                    budgets=self._accounts.lines(),
                    writes=self._ledger.of_run(self._context.run_id),
                    elapsed_s=self._clock.now() - self._context.started_at,
                )
            )

    def _is_superseded(self) -> bool:
        known = self._ledger.record_of(self._context.run_id)
        return known is not None and known.token_version != self._context.token_version

    def reopen(self) -> None:
        """Reconciliation is the one road from `read_only` back to `open`."""
        stop = self._state.stop
        if stop is None or self._state.held or self._state.mode is not Mode.READ_ONLY:
            return
        if stop.reason is not Reason.UNKNOWN_SIDE_EFFECT or stop.any_read:
            return
        self._state.mode = Mode.OPEN
        self.keep_record()
        kept = self._ledger.record_of(self._context.run_id)
        if kept is not None:
            self._ledger.store_record(msgspec.structs.replace(kept, ended_as="reconciled"))
        self._events.append(ModeChange(reason=stop.reason, mode=Mode.OPEN))
        self._state.stop = None
