"""The controller of one run: decides before a call, settles after it. It does no input or output
of its own, so that one controller serves sync and async guards alike.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.acting import Acting
from pytest_tripwire.breaker.budget import RunBudget, Usage
from pytest_tripwire.breaker.checks import first_finding
from pytest_tripwire.breaker.checks.deadline import passed
from pytest_tripwire.breaker.checks.stop_state import over, stop_state
from pytest_tripwire.breaker.circuit import CircuitPolicy, Circuits
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.findings import left_unknown, verdict_of
from pytest_tripwire.breaker.fingerprint import intent_of, plain
from pytest_tripwire.breaker.learning import Learning
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.outside import Outside
from pytest_tripwire.breaker.port import Clock, Ledger, Policy
from pytest_tripwire.breaker.rate import RateWindow
from pytest_tripwire.breaker.reconcile import Reconcile, interpret, plan
from pytest_tripwire.breaker.records import UNSETTLED, spent_before, taken_over
from pytest_tripwire.breaker.state import RunContext, RunState
from pytest_tripwire.breaker.turns import Turns
from pytest_tripwire.breaker.writes import NOTHING_HAPPENED, Writes
from pytest_tripwire.timeline import (
    ALLOW,
    BreakerEvent,
    BudgetAlert,
    BudgetLine,
    Decision,
    Finished,
    InterruptionRecord,
    Mode,
    Outcome,
    Reason,
    Settled,
    ToolCall,
    ToolSpec,
    Verdict,
    Writer,
    WriteStatus,
)


class Controller:
    """Owner of one run's state. Thread-safe; every method returns at once.

    Args:
        context: who runs what.
        specs: what is declared about each tool, by name.
        budget: the limits.
        policy: who may do what.
        ledger: where writes and records are kept.
        clock: seconds; only `now` is used here.
        events: where decisions are told.
        new_key: gives a new idempotency key for each write.
        judged: whether the run names postconditions, so that only they are progress.
        before: the record that an earlier part of the run has left.
        circuit: when tools are taken for down.
        shadow: whether decisions are recorded and not enforced.
    """

    def __init__(
        self,
        *,
        context: RunContext,
        specs: Mapping[str, ToolSpec],
        budget: RunBudget,
        policy: Policy,
        ledger: Ledger,
        clock: Clock,
        events: Writer[BreakerEvent],
        new_key: Callable[[], str],
        judged: bool = False,
        before: InterruptionRecord | None = None,
        circuit: CircuitPolicy | None = None,
        shadow: bool = False,
    ) -> None:
        self._lock = threading.RLock()
        per_minute = budget.max_calls_per_minute
        self._core = Core(
            context=context,
            specs=dict(specs),
            budget=budget,
            accounts=Accounts(budget, spent_before(before) if before else None),
            policy=policy,
            ledger=ledger,
            clock=clock,
            events=events,
            new_key=new_key,
            state=_state(context, budget, before, judged=judged),
            circuits=Circuits(circuit or CircuitPolicy()),
            rate=None if per_minute is None else RateWindow(per_minute),
            shadow=shadow,
        )
        self._modes = Modes(self._core)
        self._writes = Writes(self._core, self._modes)
        self._turns = Turns(self._core, self._modes)
        self._acting = Acting(self._core, self._modes, self._writes)
        self._learning = Learning(self._core, self._modes)
        #: What happens to the run from outside, under the same lock.
        self.outside = Outside(self._core, self._writes, self._lock)

    # -- what can be seen

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self._core.mode

    @property
    def last_reason(self) -> Reason | None:
        """Why the run left `open`; None while it is open. In shadow mode, why it would have."""
        stop = self._core.stop
        if stop is None and self._core.state.would:
            stop = self._core.state.would[-1]
        if stop is None:
            return self._core.circuits.last_trip
        return stop.reason

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        return self._core.time_left

    def budgets(self) -> tuple[BudgetLine, ...]:
        """Every limited budget as it stands."""
        return self._core.accounts.lines()

    def declare(self, spec: ToolSpec) -> None:
        """Add what is known about one more tool. A run that was taken up again learns here by
        which read its unknown writes may be settled.
        """
        core = self._core
        with self._lock:
            core.specs[spec.name] = spec
            if core.mode is Mode.READ_ONLY:
                for entry in core.ledger.of_run(core.run_id):
                    if entry.status is WriteStatus.UNKNOWN and entry.tool == spec.name:
                        core.state.held.setdefault(entry.resource, spec)

    # -- a call

    def propose(
        self, call: ToolCall, *, problem: str = "", asked: bool = False
    ) -> Verdict | Reconcile:
        """Decide about `call`. A `Reconcile` asks for a read first: make it, hand its outcome to
        `reconciled`, propose again as `asked`. `problem` says why the tool's signature refuses
        the call.
        """
        with self._lock:
            self._watch_time()
            turn = self._core.state.rounds.of_call(self._core.told_turns)
            return self._propose(plain(call), problem, turn, asked=asked)

    def propose_batch(
        self, calls: Sequence[tuple[ToolCall, str]], done: Sequence[Verdict] = ()
    ) -> list[Verdict | Reconcile]:
        """Decide about all calls of one message, each with its problem, in order. They share a
        turn, and those let through are in flight when the next is decided. A `Reconcile` ends the
        list: make the read, then go on with the rest; `done` says that the batch was begun.
        """
        with self._lock:
            self._watch_time()
            if not done and self._core.state.turns == 0:
                self._core.state.batches += 1
            turn = self._core.state.rounds.of_call(self._core.told_turns)
            verdicts: list[Verdict | Reconcile] = []
            for call, problem in calls:
                verdicts.append(self._propose(plain(call), problem, turn, asked=False))
                if isinstance(verdicts[-1], Reconcile):
                    break
            return verdicts

    def _propose(
        self, call: ToolCall, problem: str, turn: int, *, asked: bool
    ) -> Verdict | Reconcile:
        proposal = self._proposal(call, problem, turn)
        if isinstance(proposal, Finding):
            return self._acting.told(call, self._over() or proposal)
        finding = first_finding(self._core, proposal)
        if finding is None:
            finding = self._acting.admit(proposal)
        if finding is None:
            return self._acting.allowed(call)
        if self._core.shadow:
            return self._shadowed(proposal, finding)
        read = self._read_first(proposal, finding, asked=asked)
        return read or self._acting.act(proposal, finding)

    def _shadowed(self, proposal: Proposal, finding: Finding) -> Verdict:
        """Record what would have been decided, and let the call run."""
        if self._core.state.admissions.has(proposal.call):
            return ALLOW
        self._acting.act(proposal, finding)
        self._core.state.would.append(finding)
        self._acting.admit(proposal)
        return ALLOW

    def _read_first(
        self, proposal: Proposal, finding: Finding, *, asked: bool
    ) -> Reconcile | None:
        if not finding.reconcile or finding.entry is None or asked:
            return None
        spec = self._core.specs.get(finding.entry.tool, proposal.spec)
        return plan(finding.entry, proposal, spec, now=self._core.clock.now())

    def reconciled(self, request: Reconcile, outcome: Outcome) -> None:
        """Take the outcome of the read that `propose` asked for."""
        with self._lock:
            age = self._core.clock.now() - request.entry.dispatched_at
            reading = interpret(outcome, request.spec, request.arguments, age_s=age)
            self._writes.believe(request.entry, reading, outcome)

    @contextmanager
    def launch(self, call: ToolCall) -> Iterator[Verdict]:
        """Hold the run still while an admitted call enters its tool, so that no stop can slip in
        between. Yields a refusal, and takes the admission back, when the run stopped since.
        """
        with self._lock:
            call = plain(call)
            admitted = self._core.state.admissions.of(call)
            changed = self._core.mode is not admitted.mode
            finding = stop_state(self._core, admitted.proposal) if changed else None
            if finding is None:
                yield ALLOW
            else:
                self._acting.withdraw(call)
                yield self._acting.act(admitted.proposal, finding)

    def settle(self, call: ToolCall, outcome: Outcome, *, advanced: bool = False) -> str | None:
        """Say what came back from an admitted call, and whether a postcondition got better.
        Returns a hint that belongs with the result, if there is one. Raises KeyError for a call
        that was not admitted, or was settled before.
        """
        core = self._core
        with self._lock:
            self._watch_time()
            admitted = core.state.admissions.take(plain(call))
            cost = self._learning.cost(admitted.proposal, outcome)
            nothing = outcome.status in NOTHING_HAPPENED
            self._acting.pay(admitted, cost=cost, nothing_happened=nothing)
            seq = core.events.append(
                Settled(call_id=call.call_id, tool=call.tool, status=outcome.status)
            )
            core.state.rounds.came_back()
            if admitted.ticket is not None:
                core.circuits.settle(
                    admitted.ticket, outcome.status, now=core.clock.now(), seq=seq
                )
            if admitted.key is not None:
                core.state.evidence[admitted.key].append(seq)
                self._writes.settle(admitted.key, admitted.proposal, outcome)
            else:
                self._writes.learn(admitted, outcome)
            hint = self._learning.learn(admitted, outcome, seq, advanced=advanced)
            self._modes.keep_record()
            self._alert()
            return hint

    # -- the model's side

    def before_model(self, estimate_usd: Decimal | None = None) -> Verdict:
        """Open a turn. Anything but `ALLOW` means that the request must not be sent."""
        with self._lock:
            self._watch_time()
            finding = self._turns.open(estimate_usd)
            self._alert()
            return ALLOW if finding is None or self._core.shadow else verdict_of(finding)

    def after_model(self, usage: Usage, text: str = "") -> None:
        """Pay for a request that `before_model` has opened, and take what the model has said."""
        with self._lock:
            self._turns.pay(usage)
            self._turns.said(text)
            self._alert()

    def model_failed(self) -> None:
        """Take back what was reserved for a request that failed; its turn stays counted."""
        with self._lock:
            self._turns.give_back()

    # -- the end

    def stop(self, finding: Finding) -> None:
        """Stop the run for a reason from outside of it."""
        with self._lock:
            self._modes.leave_open(finding)

    def expire(self) -> None:
        """Look at the clock; whoever has a timer calls this at the deadline."""
        with self._lock:
            self._watch_time()

    def finished(self, state: str, detail: str) -> None:
        """Tell that the run has come to one of its terminal states."""
        self._core.events.append(Finished(state=state, detail=detail))

    def end(self) -> None:
        """Nothing more is dispatched in this run, though it was not stopped."""
        with self._lock:
            self._core.state.ended = True

    def refusal(self) -> Verdict | None:
        """What a call is told whose run was stopped under it; None while the run is open."""
        stop = self._core.stop
        return None if stop is None else verdict_of(stop)

    def close(self) -> InterruptionRecord | None:
        """End the run. Returns its record if it was interrupted, or left a write unsettled."""
        core = self._core
        with self._lock:
            core.state.ended = True
            self._writes.lose_those_under_way()
            for entry in core.ledger.of_run(core.run_id):
                if core.mode is Mode.OPEN and entry.status in UNSETTLED:
                    self._modes.leave_open(left_unknown(entry, core.state.evidence[entry.key]))
            record = core.ledger.record_of(core.run_id)
            if core.mode is not Mode.OPEN:
                if record is None:
                    self._modes.keep_record()  # the store failed when the run was stopped
                return core.ledger.record_of(core.run_id)
            if record is not None and record.ended_as is None:
                core.ledger.store_record(msgspec.structs.replace(record, ended_as="resumed"))
            return None

    def _over(self) -> Finding | None:
        stop = self._core.stop
        return over(stop) if stop is not None and self._core.mode is Mode.STOPPED else None

    def _proposal(self, call: ToolCall, problem: str, turn: int) -> Proposal | Finding:
        spec = self._core.specs.get(call.tool)
        if spec is None:
            return Finding(
                decision=Decision.REFUSE,
                reason=Reason.INVALID_ARGUMENTS,
                message=f"There is no tool {call.tool!r}. "
                f"Tools: {', '.join(sorted(self._core.specs))}.",
            )
        arguments: Any = call.arguments  # as a model sent them, whatever the annotation says
        if not isinstance(arguments, Mapping):
            return Finding(
                decision=Decision.REFUSE,
                reason=Reason.INVALID_ARGUMENTS,
                message=f"{call.tool} was not called: its arguments have to be an object.",
            )
        intent = intent_of(call, spec, self._core.tenant)
        return Proposal(call=call, spec=spec, intent=intent, problem=problem, turn=turn)

    def _watch_time(self) -> None:
        if self._core.time_left == 0 and self._core.mode is not Mode.STOPPED:
            self._writes.lose_those_under_way()
            self._modes.leave_open(passed())

    def _alert(self) -> None:
        for alert in self._core.accounts.alerts():
            self._core.events.append(
                BudgetAlert(name=alert.name, spent=alert.spent, limit=alert.limit)
            )


def _state(
    context: RunContext, budget: RunBudget, before: InterruptionRecord | None, *, judged: bool
) -> RunState:
    state = taken_over(before) if before else RunState()
    state.history.judged = judged
    if budget.max_consecutive_errors is not None:
        state.history.most_errors = budget.max_consecutive_errors
    state.admissions.tenant = context.tenant
    return state
