"""The controller of one run: decides before a call, settles after it. It does no input or output
of its own, so that one controller serves sync and async guards alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from pytest_tripwire.breaker.acting import Acting
from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.assembly import Parts, assembled
from pytest_tripwire.breaker.bound_key import with_minted_key
from pytest_tripwire.breaker.budget import Dimension, RunBudget, Usage
from pytest_tripwire.breaker.checks import first_finding
from pytest_tripwire.breaker.checks.deadline import passed
from pytest_tripwire.breaker.checks.stop_state import over, stop_state
from pytest_tripwire.breaker.children import born, refusal
from pytest_tripwire.breaker.circuit import CircuitPolicy
from pytest_tripwire.breaker.closing import close
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.findings import verdict_of
from pytest_tripwire.breaker.fingerprint import intent_of, plain
from pytest_tripwire.breaker.learning import Learning
from pytest_tripwire.breaker.leases import last_sent
from pytest_tripwire.breaker.memory import RunMemory
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.outside import Outside
from pytest_tripwire.breaker.port import Clock, Ledger, Policy
from pytest_tripwire.breaker.reconcile import Reconcile, interpret, plan
from pytest_tripwire.breaker.remembering import remembered
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.breaker.tasks import Attempt
from pytest_tripwire.breaker.telling import Observer
from pytest_tripwire.breaker.turns import Turns
from pytest_tripwire.breaker.visible import Visible
from pytest_tripwire.breaker.watching import Watching, stand_in
from pytest_tripwire.breaker.writes import Writes
from pytest_tripwire.timeline import (
    ALLOW,
    BreakerEvent,
    BudgetAlert,
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


class Controller(Visible):
    """Owner of one run's state. Thread-safe; every method returns at once.

    Args:
        context: who runs what.
        specs: what is declared about each tool, by name.
        budget: the limits.
        policy: who may do what.
        ledger: where writes and records are kept.
        clock: seconds; only `now` is used here.
        events: where decisions are told; None to keep none of them.
        new_key: gives a new idempotency key for each write.
        judged: whether the run names postconditions, so that only they are progress.
        before: the record that an earlier part of the run has left.
        memory: what an earlier part of the run has carried.
        circuit: when tools are taken for down.
        shadow: whether decisions are recorded and not enforced.
        observers: who is told of events, outside of the run's lock.
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
        new_key: Callable[[], str],
        events: Writer[BreakerEvent] | None = None,
        judged: bool = False,
        before: InterruptionRecord | None = None,
        memory: RunMemory | None = None,
        circuit: CircuitPolicy | None = None,
        shadow: bool = False,
        observers: Sequence[Observer] = (),
    ) -> None:
        core = assembled(
            Parts(
                context=context,
                specs=specs,
                budget=budget,
                policy=policy,
                ledger=ledger,
                clock=clock,
                events=events,
                new_key=new_key,
                judged=judged,
                before=before,
                memory=memory,
                circuit=circuit,
                shadow=shadow,
                observers=observers,
            )
        )
        self._take(core, memory.texts if memory else ())

    def _take(self, core: Core, texts: tuple[str, ...]) -> None:
        self._core = core
        self._lock = core.kin.lock
        self._modes = Modes(core)
        self._writes = Writes(core, self._modes)
        self._turns = Turns(core, self._modes, texts)
        self._acting = Acting(core, self._modes, self._writes)
        self._learning = Learning(core, self._modes)
        self._watching = Watching(core, self._acting, core.shadow) if core.shadow else None
        #: What happens to the run from outside, under the same lock.
        self.outside = Outside(core, self._writes, self._lock)

    # -- what it knows

    def memory(self) -> RunMemory:
        """What the run carries to another process."""
        with self._lock:
            return remembered(self._core, self._turns.said_before)

    def declare(self, spec: ToolSpec) -> None:
        """Add what is known about one more tool. A run that was taken up again learns here by
        which read its unknown writes may be settled.
        """
        core, spec = self._core, with_minted_key(spec)
        with self._lock:
            core.specs[spec.name] = spec
            if core.mode is Mode.READ_ONLY:
                for entry in core.ledger.of_run(core.run_id):
                    if entry.status is WriteStatus.UNKNOWN and entry.tool == spec.name:
                        core.state.held.setdefault(entry.resource, spec)

    # -- a call

    def propose(
        self,
        call: ToolCall,
        *,
        problem: str = "",
        asked: bool = False,
        turn: int | None = None,
        attempt: Attempt | None = None,
    ) -> Verdict | Reconcile:
        """Decide about `call`. A `Reconcile` asks for a read first: make it, hand its outcome to
        `reconciled`, propose again as `asked`.

        Args:
            call: as the model proposed it.
            problem: why the tool's signature refuses it, if it does.
            asked: whether the read was made.
            turn: number that `together` has given, for one of several that were proposed together.
            attempt: the try at a task that it belongs to.
        """
        with self._lock:
            self._watch_time()
            state = self._core.state
            number = self._round(state.rounds.of_call(state.turns)) if turn is None else turn
            call = plain(call)
            proposal = self._proposal(call, problem, number, attempt)
            if self._watching is not None:
                return self._watched(self._watching, call, proposal)
            if isinstance(proposal, Finding):
                return self._acting.told(call, self._over() or proposal)
            finding = first_finding(self._core, proposal) or self._acting.admit(proposal)
            if finding is None:
                return self._acting.allowed(call)
            read = None if asked else self._read_first(proposal, finding)
            return read or self._acting.act(proposal, finding)

    def together(self) -> int:
        """A number for the calls of one message, where somebody sees it whole."""
        with self._lock:
            state = self._core.state
            state.batches += state.turns == 0
            return self._round(state.rounds.of_call(state.turns or state.batches))

    def _round(self, number: int) -> int:
        return self._core.kin.round_of(self._core.run_id, number)

    def _watched(self, watching: Watching, call: ToolCall, proposal: Proposal | Finding) -> Verdict:
        if isinstance(proposal, Proposal):
            return watching.decide(proposal, None)
        core = self._core
        made = stand_in(call, core.specs.get(call.tool), core.tenant, core.kin.last)
        return watching.decide(made, proposal)

    def _read_first(self, proposal: Proposal, finding: Finding) -> Reconcile | None:
        if not finding.reconcile or finding.entry is None:
            return None
        spec = self._core.specs.get(finding.entry.tool, proposal.spec)
        return plan(finding.entry, proposal, spec, now=self._core.clock.now())

    def reconciled(self, request: Reconcile, outcome: Outcome) -> None:
        """Take the outcome of the read that `propose` asked for."""
        with self._lock:
            now = self._core.clock.now()
            age = now - last_sent(request.entry, now=now)
            reading = interpret(outcome, request.spec, request.arguments, age_s=age)
            self._writes.believe(request.entry, reading, outcome, at=now)

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
            finding = finding or self._acting.overdue(admitted)
            if finding is None:
                yield ALLOW
            else:
                self._acting.withdraw(call)
                yield self._acting.act(admitted.proposal, finding)

    def withdraw(self, call: ToolCall) -> None:
        """Take an admission back: the call was let through and will not be dispatched. Raises
        KeyError for a call that is not under way.
        """
        with self._lock:
            self._acting.withdraw(plain(call))

    def key_of(self, call: ToolCall) -> str | None:
        """The idempotency key of an admitted write, the same for every attempt at it; None for what
        does not write. Raises KeyError for a call that is not under way.
        """
        with self._lock:
            act = self._core.state.admissions.of(plain(call)).act
            return None if act is None else act.key

    def settle(
        self,
        call: ToolCall,
        outcome: Outcome,
        *,
        advanced: bool = False,
        cut_off: bool = False,
    ) -> str | None:
        """Say what came back from an admitted call. Returns a hint that belongs with the result, if
        there is one.

        Args:
            call: one that was admitted.
            outcome: what came back.
            advanced: whether a postcondition got better.
            cut_off: whether somebody has cancelled it, which is no word of its tool: no circuit
                takes it for one. Turns that bring nothing but that bring nothing all the same.

        Raises:
            KeyError: the call was not admitted, or was settled before.
        """
        core = self._core
        with self._lock:
            self._watch_time()
            admitted = core.state.admissions.take(plain(call))
            if core.shadow is not None:
                core.shadow.call = admitted.proposal.call
            cost = self._learning.cost(admitted.proposal, outcome)
            self._acting.pay(admitted, cost=cost, status=outcome.status)
            seq = core.events.append(
                Settled(call_id=call.call_id, tool=call.tool, status=outcome.status)
            )
            core.state.rounds.came_back()
            self._tell_circuits(admitted, outcome, seq, cut_off=cut_off)
            self._tell_ledger(admitted, outcome, seq)
            hint = self._learning.learn(admitted, outcome, seq, advanced=advanced)
            self._modes.keep_record()
            self._alert()
            return None if core.shadow else hint

    def _tell_circuits(
        self, admitted: Admitted, outcome: Outcome, seq: int, *, cut_off: bool
    ) -> None:
        circuits, ticket = self._core.circuits, admitted.ticket
        if ticket is None:
            return
        if cut_off:
            circuits.abandon(ticket)
            return
        now = self._core.clock.now()
        for trip in circuits.settle(ticket, outcome.status, now=now, seq=seq):
            self._acting.opened(trip)

    def _tell_ledger(self, admitted: Admitted, outcome: Outcome, seq: int) -> None:
        """What is certain of a write is told before anything is learned from it."""
        try:
            if admitted.key is not None:
                self._core.state.evidence[admitted.key].append(seq)
                self._writes.settle(admitted.key, admitted.proposal, outcome)
            else:
                self._writes.learn(admitted, outcome)
        except Exception:
            if self._core.shadow is None:
                raise
            self._core.shadow.failed("the ledger")

    # -- the model's side

    def before_model(self, estimate_usd: Decimal | None = None) -> Verdict:
        """Open a turn. Anything but `ALLOW` means that the request must not be sent."""
        with self._lock:
            self._watch_time()
            self._of_no_call()
            finding = self._turns.open(estimate_usd)
            self._alert()
            return ALLOW if finding is None else verdict_of(finding)

    def after_model(self, usage: Usage, text: str = "") -> None:
        """Pay for a request that `before_model` has opened, and take what the model has said."""
        with self._lock:
            self._of_no_call()
            self._turns.pay(usage)
            self._turns.said(text)
            self._alert()

    def model_failed(self) -> None:
        """Take back what was reserved for a request that failed; its turn stays counted."""
        with self._lock:
            self._turns.give_back()

    # -- sub-agents and tasks

    def child(
        self, agent: str, specs: Mapping[str, ToolSpec], *, judged: bool = False
    ) -> Controller | Verdict:
        """The controller of a run that works for this one, or why there is none. It shares budgets,
        writes, denials, circuits and the lock; its turns and its history are its own.
        """
        core = self._core
        with self._lock:
            self._watch_time()
            self._of_no_call()
            finding = refusal(core)
            if finding is not None:
                verdict = verdict_of(finding)
                self._acting.decided(ToolCall(call_id="", tool=agent, arguments={}), verdict)
                if core.shadow is None:
                    return verdict
                core.shadow.note(finding)
                core.accounts.settle(Dimension.SUBAGENTS, reserved=Decimal(0), spent=Decimal(1))
            self._alert()
            controller = object.__new__(Controller)
            controller._take(born(core, agent, specs, judged=judged), ())
            return controller

    def attempt(self, task: str) -> Attempt:
        """Begin a try at a task. Raises ValueError for a task without a name."""
        with self._lock:
            return self._core.kin.tasks.begin(task)

    # -- the end

    def stop(self, finding: Finding) -> None:
        """Stop the run for a reason from outside of it."""
        with self._lock:
            self._of_no_call()
            self._modes.leave_open(finding)

    def expire(self) -> None:
        """Look at the clock; whoever has a timer calls this at the deadline."""
        with self._lock:
            self._watch_time()

    def finished(self, state: str, detail: str) -> None:
        """Tell that the run has come to one of its terminal states."""
        with self._lock:
            self._core.events.append(Finished(state=state, detail=detail))

    def end(self) -> None:
        """Nothing more is dispatched in this run, though it was not stopped."""
        with self._lock:
            self._core.state.ended = True

    def close(self) -> InterruptionRecord | None:
        """End the run. Returns its record if it was interrupted, or left a write unsettled."""
        with self._lock:
            self._of_no_call()
            return close(self._core)

    # -- parts

    def _over(self) -> Finding | None:
        stop = self._core.stop
        return over(stop) if stop is not None and self._core.mode is Mode.STOPPED else None

    def _proposal(
        self, call: ToolCall, problem: str, turn: int, attempt: Attempt | None
    ) -> Proposal | Finding:
        spec = self._core.specs.get(call.tool)
        if spec is None:
            return _invalid(
                f"There is no tool {call.tool!r}. Tools: {', '.join(sorted(self._core.specs))}."
            )
        arguments: Any = call.arguments  # as a model sent them, whatever the annotation says
        if not isinstance(arguments, Mapping):
            return _invalid(f"{call.tool} was not called: its arguments have to be an object.")
        try:
            if not all(isinstance(name, str) for name in arguments):
                return _invalid(f"{call.tool} was not called: names of arguments have to be texts.")
            known = self._core.state.given.known(call, spec)
            intent = intent_of(call, known, self._core.tenant)
            other = None if known is spec else intent_of(call, spec, self._core.tenant)
        except Exception as error:  # noqa: BLE001 - arguments may raise anything when looked into
            return _invalid(f"{call.tool} was not called: its arguments raise {_named(error)}.")
        return Proposal(
            call=call,
            spec=known,
            intent=intent,
            problem=problem,
            turn=turn,
            attempt=attempt,
            as_a_nonce=other,
            speaker=self._core.state.speaker(call),
        )

    def _of_no_call(self) -> None:
        if self._core.shadow is not None:
            self._core.shadow.call = None

    def _watch_time(self) -> None:
        core = self._core
        if core.time_left != 0 or core.mode is Mode.STOPPED:
            return
        if core.shadow is None:
            self._writes.lose_those_under_way()
            self._modes.leave_open(passed())
        elif not core.shadow.knows(passed()):
            self._modes.leave_open(passed())

    def _alert(self) -> None:
        for alert in self._core.accounts.alerts():
            self._core.events.append(
                BudgetAlert(name=alert.name, spent=alert.spent, limit=alert.limit)
            )


def _named(error: Exception) -> str:
    return type(error).__name__


def _invalid(message: str) -> Finding:
    return Finding(decision=Decision.REFUSE, reason=Reason.INVALID_ARGUMENTS, message=message)
