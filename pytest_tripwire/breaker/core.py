"""The run as everything inside the breaker sees it: who runs what, under which limits, and what has
happened so far. Checks read it; the controller and its parts change it, under one lock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.breaker.circuit import Circuits
from pytest_tripwire.breaker.epoch import epoch_of
from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.kin import Kin
from pytest_tripwire.breaker.port import Clock, Policy
from pytest_tripwire.breaker.progress import NO_PROGRESS_LIMIT
from pytest_tripwire.breaker.run_ledger import RunLedger
from pytest_tripwire.breaker.shadow import Shadow
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.breaker.tally import Tally
from pytest_tripwire.breaker.telling import Telling
from pytest_tripwire.breaker.windows import KeptWindow
from pytest_tripwire.timeline import Mode, ToolSpec


@dataclass(slots=True, kw_only=True)
class Core:
    """One run's state and collaborators.

    Args:
        context: who runs what.
        specs: what is declared about each tool, by name.
        budget: the limits.
        accounts: what is spent of them.
        policy: who may do what.
        ledger: where writes and records are kept.
        clock: seconds; only `now` is used inside the breaker.
        events: where decisions are told.
        new_key: gives a new idempotency key for each write.
        state: what changes.
        circuits: which tools are taken for down.
        kin: what it shares with the runs that work for it, besides what is above.
        rate: calls within the last minute; None without a limit.
        shadow: what would have been done, where decisions are recorded and not enforced.
        tally: what has happened, in numbers.
        parent: the run that it works for.
        children: those that work for it and have not ended.
    """

    context: RunContext
    specs: dict[str, ToolSpec]
    budget: RunBudget
    accounts: Accounts
    policy: Policy
    ledger: RunLedger
    clock: Clock
    events: Telling
    new_key: Callable[[], str]
    state: RunState
    circuits: Circuits
    kin: Kin
    rate: KeptWindow | None = None
    shadow: Shadow | None = None
    tally: Tally = field(default_factory=Tally)
    parent: Core | None = None
    children: list[Core] = field(default_factory=list)

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self.state.mode

    @property
    def stop(self) -> Finding | None:
        """Why it left `open`, if it did."""
        return self.state.stop

    @property
    def run_id(self) -> str:
        """This run."""
        return self.context.run_id

    @property
    def tenant(self) -> str:
        """On whose behalf."""
        return self.context.tenant

    @property
    def epoch(self) -> str:
        """The piece of work that is under way; what the user says begins a new one."""
        return epoch_of(self.context.epoch, self.kin.messages)

    @property
    def elapsed_s(self) -> float:
        """Seconds of its own time; waiting for a person is none of it."""
        return self.clock.now() - self.context.started_at - self.state.parked_s

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        if self.budget.deadline_s is None:
            return None
        return max(0.0, self.budget.deadline_s - self.elapsed_s)

    @property
    def patience(self) -> int:
        """Fruitless steps of one kind that are executed."""
        return self.budget.max_no_progress_steps or NO_PROGRESS_LIMIT

    @property
    def answers(self) -> Mapping[str, Any]:
        """What reconciling reads returned in this run, by the write's key."""
        return self.state.answers

    def in_flight(self, intent: str) -> int:
        """How many calls of an intent have not come back yet, in the whole family."""
        return sum(each.state.admissions.count(intent) for each in self.kin.members)
