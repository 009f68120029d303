"""The controller of one run: decides before a call, settles after it. It does no input or output
of its own, so that one controller serves sync and async guards alike."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget import Accounts, Dimension, RunBudget
from pytest_tripwire.breaker.checks import Finding, Proposal, View, first_finding
from pytest_tripwire.breaker.checks.budgets import needs, spent
from pytest_tripwire.breaker.checks.stop_state import over, stop_state
from pytest_tripwire.breaker.checks.write_certainty import explain, in_the_way
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.breaker.port import Clock, Ledger, Policy
from pytest_tripwire.breaker.reconcile import (
    Reading,
    Reconcile,
    covers,
    interpret,
    plan,
    stable_id,
)
from pytest_tripwire.breaker.records import UNSETTLED, record
from pytest_tripwire.breaker.state import Admitted, RunContext, RunState
from pytest_tripwire.timeline import (
    ALLOW,
    BreakerEvent,
    BudgetLine,
    Decided,
    Decision,
    InterruptionRecord,
    Mode,
    ModeChange,
    Outcome,
    Reason,
    Reconciled,
    Settled,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
    WriteEntry,
    Writer,
    WriteStatus,
)

_RANK = {Mode.OPEN: 0, Mode.READ_ONLY: 1, Mode.STOPPED: 2}
_NOTHING_HAPPENED = frozenset({Status.DEFINITE, Status.DENIED})
_LEFT_UNKNOWN = "The run ended while the outcome of a write of {tool} was unknown."


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
    ) -> None:
        self._context = context
        self._specs = dict(specs)
        self._accounts = Accounts(budget)
        self._policy = policy
        self._ledger = ledger
        self._clock = clock
        self._events = events
        self._new_key = new_key
        self._state = RunState()
        self._lock = threading.RLock()

    @property
    def mode(self) -> Mode:
        """What the run may still do."""
        return self._state.mode

    @property
    def last_reason(self) -> Reason | None:
        """Why the run left `open`; None while it is open."""
        stop = self._state.stop
        return stop.reason if stop else None

    def declare(self, spec: ToolSpec) -> None:
        """Add what is known about one more tool."""
        with self._lock:
            self._specs[spec.name] = spec

    def budgets(self) -> tuple[BudgetLine, ...]:
        """Every limited budget as it stands."""
        return self._accounts.lines()

    def propose(self, call: ToolCall, *, problem: str = "") -> Verdict | Reconcile:
        """Decide about `call`. A `Reconcile` asks for a read first: make it, hand its outcome to
        `reconciled`, propose again. `problem` says why the tool's signature refuses the call."""
        with self._lock:
            proposal = self._proposal(call, problem)
            if isinstance(proposal, Finding):
                return self._refuse(call, self._over() or proposal)
            finding = first_finding(self._view(), proposal) or self._admit(proposal)
            if finding is None:
                return self._decided(call, ALLOW)
            read = proposal.spec.reconcile
            if finding.reconcile is not None and read is not None:
                return plan(finding.reconcile, proposal, read, now=self._clock.now())
            return self._act(proposal, finding)

    def reconciled(self, request: Reconcile, outcome: Outcome) -> None:
        """Take the outcome of the read that `propose` asked for."""
        with self._lock:
            age = self._clock.now() - request.entry.dispatched_at
            reading = interpret(outcome, request.spec, request.arguments, age_s=age)
            self._believe(request.entry, reading, outcome)

    @contextmanager
    def launch(self, call: ToolCall) -> Iterator[Verdict]:
        """Hold the run still while an admitted call enters its tool, so that no stop can slip in
        between. Yields a refusal, and takes the admission back, when the run stopped since."""
        with self._lock:
            admitted = self._waiting(call)
            finding = stop_state(self._view(), admitted.proposal)
            if finding is None:
                self._state.dispatched += 1
                yield ALLOW
            else:
                self._withdraw(call)
                yield self._act(admitted.proposal, finding)

    def settle(self, call: ToolCall, outcome: Outcome) -> None:
        """Say what came back from an admitted call. Raises KeyError for a call that was not
        admitted, or was settled before."""
        with self._lock:
            admitted = self._take(call)
            self._pay(admitted, nothing_happened=outcome.status in _NOTHING_HAPPENED)
            seq = self._events.append(
                Settled(call_id=call.call_id, tool=call.tool, status=outcome.status)
            )
            if admitted.key is not None:
                self._settle_write(admitted, admitted.key, outcome, seq)
            else:
                self._learn_from_read(admitted, outcome)
            self._keep_record()

    def before_model(self) -> Verdict:
        """Open a turn. Anything but `ALLOW` means that the request must not be sent."""
        with self._lock:
            stopped = self._over()
            if stopped is not None:
                return _verdict(stopped)
            short = self._accounts.reserve({Dimension.TURNS: 1})
            if short is None:
                self._accounts.settle(Dimension.TURNS, reserved=1, spent=1)
                return ALLOW
            finding = spent(short)
            self._leave_open(finding)
            return _verdict(finding)

    def close(self) -> InterruptionRecord | None:
        """End the run. Returns its record if it was interrupted, or left a write unsettled."""
        with self._lock:
            for entry in self._ledger.of_run(self._context.run_id):
                if self._state.mode is Mode.OPEN and entry.status in UNSETTLED:
                    self._leave_open(_left_unknown(entry, self._state.evidence[entry.key]))
            if self._state.mode is Mode.OPEN:
                return None
            if self._ledger.record_of(self._context.run_id) is None:
                self._keep_record()  # the store failed when the run was stopped
            return self._ledger.record_of(self._context.run_id)

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
        return View(
            mode=self._state.mode,
            stop=self._state.stop,
            epoch=self._context.epoch,
            accounts=self._accounts,
            ledger=self._ledger,
            policy=self._policy,
            held=self._state.held,
            answers=self._state.answers,
            tenant=self._context.tenant,
        )

    def _admit(self, proposal: Proposal) -> Finding | None:
        """Reserve and write ahead, both or neither."""
        taken = needs(self._view(), proposal)
        short = self._accounts.reserve(taken)
        if short is not None:
            return spent(short)
        admitted = Admitted(proposal=proposal, needs=taken, at=self._clock.now())
        try:
            finding = self._write_ahead(admitted) if proposal.spec.mutates else None
        except BaseException:
            self._release(admitted)
            raise
        if finding is not None:
            self._release(admitted)
            return finding
        self._state.admitted[proposal.call.call_id].append(admitted)
        return None

    def _write_ahead(self, admitted: Admitted) -> Finding | None:
        intent, spec = admitted.proposal.intent, admitted.proposal.spec
        entry = WriteEntry(
            key=self._new_key(),
            run_id=self._context.run_id,
            epoch=self._context.epoch,
            tool=spec.name,
            kind=spec.kind,
            resource=intent.resource,
            intent=intent.digest,
            dispatched_at=admitted.at,
        )
        epoch, learned = entry.epoch, self._state.answers
        other = self._ledger.begin(
            entry,
            lambda known: in_the_way(known, intent=intent.digest, epoch=epoch, learned=learned),
        )
        if other is not None:
            return explain(other, self._view(), admitted.proposal)
        admitted.key = entry.key
        return None

    # -- acting on a finding

    def _act(self, proposal: Proposal, finding: Finding) -> Verdict:
        self._state.last_intent = proposal.intent.digest
        standing = finding.entry
        if standing is not None:
            evidence = tuple(self._state.evidence[standing.key])
            finding = msgspec.structs.replace(finding, evidence=evidence)
            if standing.status is WriteStatus.UNKNOWN:
                self._state.held[proposal.intent.resource] = proposal.spec
        if finding.mode is not None:
            self._leave_open(finding)
        return self._refuse(proposal.call, finding)

    def _over(self) -> Finding | None:
        stop = self._state.stop
        return over(stop) if stop is not None and self._state.mode is Mode.STOPPED else None

    def _leave_open(self, finding: Finding) -> None:
        mode = finding.mode or Mode.STOPPED
        if _RANK[mode] <= _RANK[self._state.mode]:
            return
        self._state.mode = mode
        self._state.stop = self._state.stop or finding
        self._keep_record()
        self._events.append(ModeChange(reason=self._state.stop.reason, mode=mode))

    def _keep_record(self) -> None:
        """Store the record as it now stands; a write that settles late belongs in it too."""
        stop = self._state.stop
        if stop is not None:
            writes = self._ledger.of_run(self._context.run_id)
            self._ledger.store_record(
                record(self._context, self._state, stop, self._accounts, writes)
            )

    def _refuse(self, call: ToolCall, finding: Finding) -> Verdict:
        self._state.refused += 1
        return self._decided(call, _verdict(finding))

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
            key = self._state.admitted[call.call_id][-1].key
            if key is not None:
                self._state.evidence[key].append(seq)
        return verdict

    # -- settling

    def _waiting(self, call: ToolCall) -> Admitted:
        """The admission of `call`. Models give one id to several calls, so the id alone tells
        little; whoever settles may hand in a call made anew."""
        waiting = reversed(self._state.admitted.get(call.call_id, []))
        same = [each for each in waiting if each.proposal.call.tool == call.tool]
        if not same:
            message = f"settle({call.tool}, {call.call_id}): no such call is under way"
            raise KeyError(f"{message}; settle each allowed call once")
        exact = [each for each in same if each.proposal.call is call]
        if not exact and len(same) > 1:
            meant = intent_of(call, same[0].proposal.spec, self._context.tenant)
            exact = [each for each in same if each.proposal.intent == meant]
        return (exact or same)[0]

    def _take(self, call: ToolCall) -> Admitted:
        admitted = self._waiting(call)
        waiting = self._state.admitted[call.call_id]
        waiting[:] = [each for each in waiting if each is not admitted]
        if not waiting:
            del self._state.admitted[call.call_id]
        return admitted

    def _withdraw(self, call: ToolCall) -> None:
        admitted = self._take(call)
        self._release(admitted)
        if admitted.key is not None:
            self._ledger.settle(admitted.key, WriteStatus.REJECTED, reconciled=False)

    def _release(self, admitted: Admitted) -> None:
        for dimension, amount in admitted.needs.items():
            self._accounts.settle(dimension, reserved=amount, spent=0)

    def _pay(self, admitted: Admitted, *, nothing_happened: bool) -> None:
        for dimension, amount in admitted.needs.items():
            freed = nothing_happened and dimension is Dimension.SIDE_EFFECTS
            self._accounts.settle(dimension, reserved=amount, spent=0 if freed else amount)

    def _settle_write(self, admitted: Admitted, key: str, outcome: Outcome, seq: int) -> None:
        self._state.evidence[key].append(seq)
        spec, about = admitted.proposal.spec, admitted.proposal.call.arguments
        if outcome.status is Status.OK:
            found = stable_id(outcome.result, spec, about)
            self._ledger.settle(key, WriteStatus.CONFIRMED, result_id=found, reconciled=False)
        elif outcome.status in _NOTHING_HAPPENED:
            self._ledger.settle(key, WriteStatus.REJECTED, reconciled=False)
        else:
            self._ledger.settle(key, WriteStatus.UNKNOWN, reconciled=False)

    def _learn_from_read(self, admitted: Admitted, outcome: Outcome) -> None:
        """A read that the model makes itself may settle a write that is held. What it shows is as
        old as its admission, however long its answer took."""
        proposal = admitted.proposal
        about = proposal.call.arguments
        for resource, spec in list(self._state.held.items()):
            if spec.reconcile != proposal.call.tool:
                continue
            if not covers(spec, about, resource, self._context.tenant):
                continue
            for entry in self._ledger.of_resource(resource):
                if entry.status is WriteStatus.UNKNOWN:
                    age = admitted.at - entry.dispatched_at
                    self._believe(entry, interpret(outcome, spec, about, age_s=age), outcome)
            self._release_hold(resource)

    def _believe(self, entry: WriteEntry, reading: Reading, outcome: Outcome) -> None:
        """Take a reading for true, unless the write was settled while the read was under way."""
        known = self._ledger.of_resource(entry.resource)
        standing = {each.key: each.status for each in known}.get(entry.key)
        if standing is WriteStatus.CONFIRMED:
            self._state.answers.setdefault(entry.key, outcome.result)
        if standing is not WriteStatus.UNKNOWN:
            return
        if _shown_before(reading, entry, known):
            reading = Reading(status=WriteStatus.UNKNOWN)
        self._ledger.settle(entry.key, reading.status, result_id=reading.result_id, reconciled=True)
        self._events.append(Reconciled(tool=entry.tool, status=reading.status))
        if reading.status is WriteStatus.UNKNOWN:
            return
        if reading.status is WriteStatus.CONFIRMED:
            self._state.answers[entry.key] = outcome.result
        elif entry.run_id == self._context.run_id:
            self._accounts.settle(Dimension.SIDE_EFFECTS, reserved=0, spent=-1)
        self._release_hold(entry.resource)

    def _release_hold(self, resource: str) -> None:
        """Reconciliation is the one road from `read_only` back to `open`."""
        known = self._ledger.of_resource(resource)
        if any(entry.status is WriteStatus.UNKNOWN for entry in known):
            return
        self._state.held.pop(resource, None)
        stop = self._state.stop
        if stop is None or self._state.held or self._state.mode is not Mode.READ_ONLY:
            return
        if stop.reason is not Reason.UNKNOWN_SIDE_EFFECT:
            return
        self._state.mode = Mode.OPEN
        self._keep_record()
        kept = self._ledger.record_of(self._context.run_id)
        if kept is not None:
            self._ledger.store_record(msgspec.structs.replace(kept, ended_as="reconciled"))
        self._events.append(ModeChange(reason=stop.reason, mode=Mode.OPEN))
        self._state.stop = None


def _verdict(finding: Finding) -> Verdict:
    return Verdict(
        decision=finding.decision,
        reason=finding.reason,
        message=finding.message,
        evidence=finding.evidence,
        answer=finding.answer,
    )


def _shown_before(reading: Reading, entry: WriteEntry, known: Iterable[WriteEntry]) -> bool:
    """Whether a read shows only what an earlier write left behind, which proves nothing."""
    others = {each.result_id for each in known if each.key != entry.key}
    return reading.result_id is not None and reading.result_id in others


def _left_unknown(entry: WriteEntry, evidence: list[int]) -> Finding:
    return Finding(
        decision=Decision.ALLOW_READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_LEFT_UNKNOWN.format(tool=entry.tool),
        evidence=tuple(evidence),
        mode=Mode.READ_ONLY,
        entry=entry,
    )
