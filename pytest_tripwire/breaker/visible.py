"""What can be seen of a run from outside; looking changes nothing."""

from __future__ import annotations

from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.findings import verdict_of
from pytest_tripwire.breaker.shadow import WouldHave
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.breaker.stats import stats_of
from pytest_tripwire.breaker.tally import RunStats
from pytest_tripwire.breaker.telling import RunLock
from pytest_tripwire.timeline import BudgetLine, Effect, Mode, Reason, Verdict


class Visible:
    """How a run stands; part of `Controller`."""

    _core: Core
    _lock: RunLock

    @property
    def context(self) -> RunContext:
        """Who runs what."""
        return self._core.context

    @property
    def family(self) -> object:
        """What is one for a run and those that work for it; nothing but itself is equal to it."""
        return self._core.kin

    @property
    def shadow(self) -> bool:
        """Whether the run is only watched."""
        return self._core.shadow is not None

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self._core.mode

    @property
    def last_reason(self) -> Reason | None:
        """Why the run left `open`, or would have, if it is only watched; while it is open, what
        opened a circuit last.
        """
        stop = self._core.shadow.first if self._core.shadow else self._core.stop
        return self._core.circuits.last_trip if stop is None else stop.reason

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        return self._core.time_left

    def waits_for_store(self, tool: str) -> bool:
        """Whether deciding about a call of `tool`, or settling it, may wait for a disk or a
        network: a write is told to the store, and so is what comes of one whose outcome is not
        known; and whoever waits for the lock of one that is being told waits too.
        """
        core = self._core
        if not core.ledger.durable:
            return False
        spec, state = core.specs.get(tool), core.state
        writes = spec is not None and spec.effect is not Effect.READ
        doubts = bool(state.held or state.watched) or core.mode is not Mode.OPEN
        return writes or doubts or core.kin.lock.busy

    @property
    def is_telling(self) -> bool:
        """Whether somebody seems to hold the run's lock, who may wait for a disk or a network."""
        return self._core.ledger.durable and self._lock.busy

    def let_tell(self) -> None:
        """Return when whoever holds the run's lock has let go of it."""
        self._lock.wait()

    def has_tool(self, name: str) -> bool:
        """Whether a tool of this name is declared."""
        return name in self._core.specs

    def budgets(self) -> tuple[BudgetLine, ...]:
        """Every limited budget as it stands."""
        return self._core.accounts.lines()

    def stats(self) -> RunStats:
        """The run in numbers."""
        with self._lock:
            return stats_of(self._core, self.last_reason)

    def would_have(self) -> tuple[WouldHave, ...]:
        """What an enforced run would have done; empty in one that is enforced."""
        with self._lock:
            return self._core.shadow.noted() if self._core.shadow else ()

    def backoff(self, tool: str | None = None) -> float:
        """Seconds that a patient caller waits before trying again; see `Circuits.backoff`."""
        with self._lock:
            return self._core.circuits.backoff(tool)

    def refusal(self) -> Verdict | None:
        """What a call is told whose run was stopped under it; None while the run is open."""
        stop = self._core.stop
        return None if stop is None else verdict_of(stop)
