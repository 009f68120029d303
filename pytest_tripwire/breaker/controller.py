"""The controller of one run: decides before a call, settles after it. It does no input or output
of its own, so that one controller serves sync and async guards alike.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.budget import Dimension, RunBudget, Usage
from pytest_tripwire.breaker.checks import DenialSeen, Finding, Proposal, View, first_finding
from pytest_tripwire.breaker.checks.budgets import needs, spent
from pytest_tripwire.breaker.checks.deadline import passed
from pytest_tripwire.breaker.checks.stop_state import over, stop_state
from pytest_tripwire.breaker.checks.write_certainty import explain
from pytest_tripwire.breaker.findings import left_unknown, nudge, stuck, verdict_of
from pytest_tripwire.breaker.fingerprint import intent_of, plain, reference_of
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.port import Clock, Ledger, Policy
from pytest_tripwire.breaker.progress import NO_PROGRESS_LIMIT, judge_step, step_of
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
    Decided,
    Decision,
    Effect,
    Finished,
    InterruptionRecord,
    Mode,
    Nudged,
    Outcome,
    Reason,
    Settled,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
    Writer,
    WriteStatus,
)

#: Records whose versions a run remembers, those read last.
MOST_VERSIONS = 256

_FINAL = "This is the final iteration: no further tool will run, so answer with what you know."


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
    ) -> None:
        self._context = context
        self._specs = dict(specs)
        self._budget = budget
        self._accounts = Accounts(budget, spent_before(before) if before else None)
        self._policy = policy
        self._ledger = ledger
        self._clock = clock
        self._events = events
        self._lock = threading.RLock()
        self._state = taken_over(before) if before else RunState()
        self._state.history.judged = judged
        self._state.admissions.tenant = context.tenant
        self._modes = Modes(
            context=context,
            state=self._state,
            accounts=self._accounts,
            ledger=ledger,
            clock=clock,
            events=events,
        )
        self._writes = Writes(
            context=context,
            state=self._state,
            accounts=self._accounts,
            ledger=ledger,
            clock=clock,
            events=events,
            modes=self._modes,
            new_key=new_key,
        )
        self._turns = Turns(
            budget=budget, state=self._state, accounts=self._accounts, modes=self._modes
        )

    # -- what can be seen

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self._state.mode

    @property
    def last_reason(self) -> Reason | None:
        """Why the run left `open`; None while it is open."""
        stop = self._state.stop
        return stop.reason if stop else None

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, 0 when it has passed; None without one."""
        if self._budget.deadline_s is None:
            return None
        used = self._clock.now() - self._context.started_at
        return max(0.0, self._budget.deadline_s - used)

    def budgets(self) -> tuple[BudgetLine, ...]:
        """Every limited budget as it stands."""
        return self._accounts.lines()

    def declare(self, spec: ToolSpec) -> None:
        """Add what is known about one more tool. A run that was taken up again learns here by
        which read its unknown writes may be settled.
        """
        with self._lock:
            self._specs[spec.name] = spec
            if self._state.mode is Mode.READ_ONLY:
                for entry in self._ledger.of_run(self._context.run_id):
                    if entry.status is WriteStatus.UNKNOWN and entry.tool == spec.name:
                        self._state.held.setdefault(entry.resource, spec)

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
            call = plain(call)
            proposal = self._proposal(call, problem)
            if isinstance(proposal, Finding):
                return self._refuse(call, self._over() or proposal)
            finding = first_finding(self._view(), proposal) or self._admit(proposal)
            if finding is None:
                return self._decided(call, ALLOW)
            if finding.reconcile and finding.entry is not None and not asked:
                spec = self._specs.get(finding.entry.tool, proposal.spec)
                read = plan(finding.entry, proposal, spec, now=self._clock.now())
                if read is not None:
                    return read
            return self._act(proposal, finding)

    def reconciled(self, request: Reconcile, outcome: Outcome) -> None:
        """Take the outcome of the read that `propose` asked for."""
        with self._lock:
            age = self._clock.now() - request.entry.dispatched_at
            reading = interpret(outcome, request.spec, request.arguments, age_s=age)
            self._writes.believe(request.entry, reading, outcome)

    @contextmanager
    def launch(self, call: ToolCall) -> Iterator[Verdict]:
        """Hold the run still while an admitted call enters its tool, so that no stop can slip in
        between. Yields a refusal, and takes the admission back, when the run stopped since.
        """
        with self._lock:
            call = plain(call)
            admitted = self._state.admissions.of(call)
            changed = self._state.mode is not admitted.mode
            finding = stop_state(self._view(), admitted.proposal) if changed else None
            if finding is None:
                yield ALLOW
            else:
                self._withdraw(call)
                yield self._act(admitted.proposal, finding)

    def settle(self, call: ToolCall, outcome: Outcome, *, advanced: bool = False) -> str | None:
        """Say what came back from an admitted call, and whether a postcondition got better.
        Returns a hint that belongs with the result, if there is one. Raises KeyError for a call
        that was not admitted, or was settled before.
        """
        with self._lock:
            self._watch_time()
            call = plain(call)
            admitted = self._state.admissions.take(call)
            self._pay(admitted, nothing_happened=outcome.status in NOTHING_HAPPENED)
            seq = self._events.append(
                Settled(call_id=call.call_id, tool=call.tool, status=outcome.status)
            )
            if admitted.key is not None:
                self._state.evidence[admitted.key].append(seq)
                self._writes.settle(admitted.key, admitted.proposal, outcome)
            else:
                self._writes.learn(admitted, outcome)
            hint = self._learn(call, admitted.proposal, outcome, seq, advanced=advanced)
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
            return ALLOW if finding is None else verdict_of(finding)

    def after_model(self, usage: Usage) -> None:
        """Pay for a request that `before_model` has opened."""
        with self._lock:
            self._turns.pay(usage)
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
        self._events.append(Finished(state=state, detail=detail))

    def end(self) -> None:
        """Nothing more is dispatched in this run, though it was not stopped."""
        with self._lock:
            self._state.ended = True

    def refusal(self) -> Verdict | None:
        """What a call is told whose run was stopped under it; None while the run is open."""
        stop = self._state.stop
        return None if stop is None else verdict_of(stop)

    def close(self) -> InterruptionRecord | None:
        """End the run. Returns its record if it was interrupted, or left a write unsettled."""
        with self._lock:
            self._state.ended = True
            self._writes.lose_those_under_way()
            for entry in self._ledger.of_run(self._context.run_id):
                if self._state.mode is Mode.OPEN and entry.status in UNSETTLED:
                    self._modes.leave_open(left_unknown(entry, self._state.evidence[entry.key]))
            record = self._ledger.record_of(self._context.run_id)
            if self._state.mode is not Mode.OPEN:
                if record is None:
                    self._modes.keep_record()  # the store failed when the run was stopped
                return self._ledger.record_of(self._context.run_id)
            if record is not None and record.ended_as is None:
                self._ledger.store_record(msgspec.structs.replace(record, ended_as="resumed"))
            return None

    def _over(self) -> Finding | None:
        stop = self._state.stop
        return over(stop) if stop is not None and self._state.mode is Mode.STOPPED else None

    # -- proposing

    def _proposal(self, call: ToolCall, problem: str) -> Proposal | Finding:
        spec = self._specs.get(call.tool)
        if spec is None:
            return Finding(
                decision=Decision.REFUSE,
                reason=Reason.INVALID_ARGUMENTS,
                message=f"There is no tool {call.tool!r}. Tools: {', '.join(sorted(self._specs))}.",
            )
        arguments: Any = call.arguments  # as a model sent them, whatever the annotation says
        if not isinstance(arguments, Mapping):
            return Finding(
                decision=Decision.REFUSE,
                reason=Reason.INVALID_ARGUMENTS,
                message=f"{call.tool} was not called: its arguments have to be an object.",
            )
        intent = intent_of(call, spec, self._context.tenant)
        return Proposal(call=call, spec=spec, intent=intent, problem=problem)

    def _view(self) -> View:
        state = self._state
        return View(
            mode=state.mode,
            stop=state.stop,
            run_id=self._context.run_id,
            epoch=self._context.epoch,
            tenant=self._context.tenant,
            accounts=self._accounts,
            max_same_intent=self._budget.max_same_intent,
            executed=state.executed,
            time_left=self.time_left,
            final=state.final,
            ledger=self._ledger,
            policy=self._policy,
            specs=self._specs,
            ended=state.ended,
            denials=state.denials,
            policy_denials=state.policy_denials,
            in_flight=state.admissions.count,
            patience=self._patience,
            held=state.held,
            answers=state.answers,
            diagnosed=state.diagnosed,
        )

    @property
    def _patience(self) -> int:
        return self._budget.max_no_progress_steps or NO_PROGRESS_LIMIT

    def _admit(self, proposal: Proposal) -> Finding | None:
        """Reserve and write ahead, both or neither."""
        reads_only = self._state.mode is Mode.READ_ONLY
        taken = needs(self._view(), proposal)
        short = self._accounts.reserve(taken)
        if short is not None:
            return spent(short)
        admitted = Admitted(
            proposal=proposal, needs=taken, mode=self._state.mode, at=self._clock.now()
        )
        try:
            finding = self._write_ahead(admitted) if proposal.spec.mutates else None
        except BaseException:
            self._release(admitted)
            raise
        if finding is not None:
            self._release(admitted)
            return finding
        self._state.diagnosed = self._state.diagnosed or (reads_only and bool(taken))
        self._state.admissions.add(admitted)
        # Counted at once, or calls side by side would not see one another.
        self._state.executed[proposal.intent.digest] += 1
        return None

    def _write_ahead(self, admitted: Admitted) -> Finding | None:
        key, other = self._writes.begin(admitted.proposal)
        admitted.key = key
        return None if other is None else explain(other, self._view(), admitted.proposal)

    # -- acting on a finding

    def _act(self, proposal: Proposal, finding: Finding) -> Verdict:
        self._state.last_intent = proposal.intent.digest
        standing = finding.entry
        if standing is not None:
            evidence = tuple(self._state.evidence[standing.key])
            finding = msgspec.structs.replace(finding, evidence=evidence)
            if standing.status is WriteStatus.UNKNOWN:
                wrote = self._specs.get(standing.tool, proposal.spec)
                self._state.held.setdefault(proposal.intent.resource, wrote)
        if finding.denial is not None:
            seen = self._state.denials[finding.denial]
            self._state.denials[finding.denial] = msgspec.structs.replace(
                seen, refused=seen.refused + 1
            )
        if finding.rule:
            key = (proposal.spec.kind, proposal.intent.resource, finding.rule)
            self._state.policy_denials[key] += 1
        if finding.mode is not None:
            self._modes.leave_open(finding)
        return self._refuse(proposal.call, finding)

    def _refuse(self, call: ToolCall, finding: Finding) -> Verdict:
        return self._decided(call, verdict_of(finding))

    def _decided(self, call: ToolCall, verdict: Verdict) -> Verdict:
        seq = self._events.append(
            Decided(
                call_id=call.call_id,
                tool=call.tool,
                decision=verdict.decision,
                reason=verdict.reason,
                mode=self._state.mode,
            )
        )
        if verdict.allowed:
            key = self._state.admissions.of(call).key
            if key is not None:
                self._state.evidence[key].append(seq)
        return verdict

    # -- settling

    def _withdraw(self, call: ToolCall) -> None:
        admitted = self._state.admissions.take(call)
        self._state.executed[admitted.proposal.intent.digest] -= 1
        self._release(admitted)
        if admitted.key is not None:
            self._writes.withdraw(admitted.key)

    def _release(self, admitted: Admitted) -> None:
        for dimension, amount in admitted.needs.items():
            self._accounts.settle(dimension, reserved=amount, spent=Decimal(0))

    def _pay(self, admitted: Admitted, *, nothing_happened: bool) -> None:
        for dimension, amount in admitted.needs.items():
            freed = nothing_happened and dimension is Dimension.SIDE_EFFECTS
            self._accounts.settle(dimension, reserved=amount, spent=Decimal(0) if freed else amount)

    def _learn(
        self, call: ToolCall, proposal: Proposal, outcome: Outcome, seq: int, *, advanced: bool
    ) -> str | None:
        """Take what came back as progress, or the lack of it."""
        step = step_of(proposal, outcome, seq)
        if step.version:
            self._note_version(reference_of(call.arguments, proposal.spec), step.version)
        if proposal.spec.mutates and outcome.status is Status.OK and not step.version:
            self._state.versions.pop(reference_of(call.arguments, proposal.spec), None)
        if outcome.status is Status.DENIED and proposal.spec.effect is not Effect.READ:
            self._note_denial(proposal, outcome, seq)
            return self._final_hint()
        if self._state.history.add(step, advanced=advanced) and not step.empty:
            self._state.progress_turn = self._state.turns
        trip = judge_step(self._state.history, step, self._patience)
        if trip is None:
            return self._final_hint()
        if trip.stops:
            self._modes.leave_open(stuck(trip))
            return None
        self._events.append(Nudged(call_id=call.call_id, reason=trip.reason))
        return nudge(trip)

    def _note_version(self, resource: str, version: str) -> None:
        self._state.last_resource, self._state.last_version = resource, version
        if resource:
            self._state.versions.pop(resource, None)
            self._state.versions[resource] = version
            while len(self._state.versions) > MOST_VERSIONS:
                del self._state.versions[next(iter(self._state.versions))]

    def _note_denial(self, proposal: Proposal, outcome: Outcome, seq: int) -> None:
        key = (proposal.spec.kind, proposal.intent.resource)
        seen = self._state.denials.get(key)
        self._state.denials[key] = DenialSeen(
            rules=(*(seen.rules if seen else ()), outcome.rule or outcome.error or "unnamed"),
            tool=proposal.call.tool,
            intents=(seen.intents if seen else frozenset()) | {proposal.intent.digest},
            evidence=(*(seen.evidence if seen else ()), seq),
            refused=seen.refused if seen else 0,
        )

    def _final_hint(self) -> str | None:
        return _FINAL if self._state.over_ceiling and not self._state.final else None

    # -- time and money

    def _watch_time(self) -> None:
        if self.time_left == 0 and self._state.mode is not Mode.STOPPED:
            self._writes.lose_those_under_way()
            self._modes.leave_open(passed())

    def _alert(self) -> None:
        for alert in self._accounts.alerts():
            self._events.append(BudgetAlert(name=alert.name, spent=alert.spent, limit=alert.limit))
