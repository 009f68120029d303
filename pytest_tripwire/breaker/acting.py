"""What follows from a finding or an admission: the tail end of a decision."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.checks.approval import approval, approved
from pytest_tripwire.breaker.checks.budgets import needs, spent
from pytest_tripwire.breaker.checks.write_certainty import explain
from pytest_tripwire.breaker.circuit import CircuitTrip
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.findings import taken_up_elsewhere, too_late, verdict_of
from pytest_tripwire.breaker.keeping import keep_denial
from pytest_tripwire.breaker.leases import lease_of
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.port import SupersededError
from pytest_tripwire.breaker.shadow import Shadow
from pytest_tripwire.breaker.tally import UNDECLARED
from pytest_tripwire.breaker.writes import NOTHING_HAPPENED, Begun, Writes
from pytest_tripwire.timeline import (
    ALLOW,
    CircuitOpened,
    Decided,
    Mode,
    Status,
    ToolCall,
    Verdict,
    WriteEntry,
    WriteStatus,
)


class Acting:
    """Admits calls, or tells why not. Used under the run's lock."""

    def __init__(self, core: Core, modes: Modes, writes: Writes) -> None:
        self._core = core
        self._modes = modes
        self._writes = writes

    # -- letting through

    def admit(self, proposal: Proposal) -> Finding | None:
        """Reserve and write ahead, both or neither."""
        taken = needs(self._core, proposal)
        short = self._core.accounts.reserve(taken)
        if short is not None:
            return spent(short)
        admitted = self._admitted(proposal, taken)
        try:
            finding = self._approved(admitted)
            if finding is None and proposal.spec.mutates:
                finding = self._write_ahead(admitted)
        except BaseException:
            self._take_back(admitted)
            raise
        if finding is not None:
            self._take_back(admitted)
            return finding
        self._let_in(admitted)
        return None

    def let_run(self, proposal: Proposal, shadow: Shadow, *, counted: bool) -> None:
        """Let a call run in a run that is only watched, whatever is spent. One that an enforced run
        would not have let through is not `counted`: it takes nothing.
        """
        wanted = needs(self._core, proposal) if counted else {}
        reserve = self._core.accounts.reserve
        # One by one: what is left of one budget is taken though another is spent.
        taken = {each: wanted[each] for each in wanted if reserve({each: wanted[each]}) is None}
        admitted = self._admitted(proposal, taken)
        admitted.counted = counted
        if proposal.spec.mutates:
            try:
                self._write_anyway(admitted)
            except Exception:  # noqa: BLE001 - whatever the ledger raises
                shadow.failed("the ledger")
        self._let_in(admitted)

    def _write_anyway(self, admitted: Admitted) -> None:
        begun = self._writes.begin(admitted.proposal, anyway=True)
        if isinstance(begun, Begun):
            self._begun(admitted, begun)

    def _begun(self, admitted: Admitted, begun: Begun) -> None:
        admitted.key, admitted.act = begun.key, begun.act
        if Dimension.SIDE_EFFECTS in admitted.needs:
            self._core.state.doubtful[begun.key] = None
        else:
            self._core.state.unpaid.add(begun.key)

    def _admitted(self, proposal: Proposal, taken: Mapping[Dimension, Decimal]) -> Admitted:
        core = self._core
        return Admitted(proposal=proposal, needs=taken, mode=core.mode, at=core.clock.now())

    def _let_in(self, admitted: Admitted) -> None:
        core, proposal = self._core, admitted.proposal
        core.tally.calls += 1
        core.state.admissions.add(admitted)
        if not admitted.counted:
            return
        reads_only = core.mode is Mode.READ_ONLY
        core.state.diagnosed = core.state.diagnosed or (reads_only and bool(admitted.needs))
        if core.shadow is not None:
            core.state.approvals.use(proposal, now=admitted.at)
        admitted.ticket = core.circuits.admit(
            proposal.spec.name, proposal.intent.exact, turn=proposal.turn, now=admitted.at
        )
        if core.rate is not None and core.rate.retry_after(admitted.at) <= 0:
            admitted.stamp = core.rate.add(admitted.at)
        if core.budget.max_same_intent is not None:
            # Counted at once, or calls side by side would not see one another.
            core.state.executed[proposal.intent.digest] += 1

    def _approved(self, admitted: Admitted) -> Finding | None:
        """Use up one attempt of the yes that a call has, unless another process was first."""
        proposal, approvals = admitted.proposal, self._core.state.approvals
        used = approvals.use(proposal, now=admitted.at)
        if used is None:
            return approval(self._core, proposal) or approved(self._core, proposal)
        admitted.approval = used
        return None

    def _take_back(self, admitted: Admitted) -> None:
        """Give back all that was taken for a call that does not run."""
        self.release(admitted)
        if admitted.approval:
            self._core.state.approvals.give_back(admitted.approval)

    def _write_ahead(self, admitted: Admitted) -> Finding | None:
        try:
            begun = self._writes.begin(admitted.proposal)
        except SupersededError:
            return taken_up_elsewhere()
        if isinstance(begun, WriteEntry):
            return explain(begun, self._core, admitted.proposal)
        self._begun(admitted, begun)
        return None

    # -- taking back, paying

    def withdraw(self, call: ToolCall) -> None:
        """Take an admission back: the call was never dispatched. The store comes last, as it may
        fail: what it keeps of the call then reads as unknown.
        """
        core = self._core
        admitted = core.state.admissions.take(call)
        core.tally.calls -= 1
        if admitted.counted and core.budget.max_same_intent is not None:
            core.state.executed[admitted.proposal.intent.digest] -= 1
        if admitted.ticket is not None:
            core.circuits.abandon(admitted.ticket)
        if admitted.stamp is not None and core.rate is not None:
            core.rate.withdraw(admitted.stamp)
        self._take_back(admitted)
        if admitted.key is not None:
            core.state.doubtful.pop(admitted.key, None)
            self._writes.withdraw(admitted.key)

    def overdue(self, admitted: Admitted) -> Finding | None:
        """Why a write that was let through is not begun any more: its lease is over, so others may
        take it for lost.
        """
        core, spec = self._core, admitted.proposal.spec
        if admitted.key is None or not core.ledger.durable:
            return None
        over = core.clock.now() >= admitted.at + lease_of(spec, core.context.lease_s)
        return too_late(spec.name) if over and core.shadow is None else None

    def release(self, admitted: Admitted) -> None:
        """Give back what was reserved."""
        for dimension, amount in admitted.needs.items():
            self._core.accounts.settle(dimension, reserved=amount, spent=Decimal(0))

    def pay(self, admitted: Admitted, *, cost: Decimal | None, status: Status) -> None:
        """Turn what was reserved into what was used."""
        accounts, nothing_happened = self._core.accounts, status in NOTHING_HAPPENED
        if admitted.key is not None and (nothing_happened or status is Status.OK):
            self._core.state.doubtful.pop(admitted.key, None)
        for dimension, amount in admitted.needs.items():
            if dimension is Dimension.MODEL_COST:
                accounts.settle(dimension, reserved=amount, spent=Decimal(0))
                continue
            freed = nothing_happened and dimension is Dimension.SIDE_EFFECTS
            accounts.settle(dimension, reserved=amount, spent=Decimal(0) if freed else amount)
        if cost:
            accounts.settle(Dimension.MODEL_COST, reserved=Decimal(0), spent=cost)

    # -- refusing

    def act(self, proposal: Proposal, finding: Finding) -> Verdict:
        """Do what a finding asks for, and tell it."""
        finding = self._with_evidence(proposal, finding)
        self.count(proposal, finding)
        if finding.mode is not None:
            self._modes.leave_open(finding)
        return self.told(proposal.call, finding, proposal)

    def count(self, proposal: Proposal, finding: Finding) -> None:
        """Keep in mind that something was not let through."""
        state = self._core.state
        state.last_intent, state.last_tool = proposal.intent.digest, proposal.spec.name
        if finding.denial is not None and finding.denial in state.denials:
            seen = state.denials[finding.denial]
            state.denials[finding.denial] = msgspec.structs.replace(seen, refused=seen.refused + 1)
            keep_denial(self._core, finding.denial)
        if finding.rule:
            key = (proposal.spec.kind, proposal.intent.resource, finding.rule)
            state.policy_denials[key] += 1
        self._tell_circuits(proposal, finding)

    def _with_evidence(self, proposal: Proposal, finding: Finding) -> Finding:
        entry, state = finding.entry, self._core.state
        if entry is None:
            return finding
        if entry.status is WriteStatus.UNKNOWN:
            wrote = self._core.specs.get(entry.tool, proposal.spec)
            state.held.setdefault(entry.resource, wrote)
        return msgspec.structs.replace(finding, evidence=tuple(state.evidence[entry.key]))

    def _tell_circuits(self, proposal: Proposal, finding: Finding) -> None:
        if finding.circuit is None:
            self._core.circuits.note(proposal.intent.exact)
            return
        trip = self._core.circuits.reject(finding.circuit, now=self._core.clock.now())
        if trip is not None:
            self.opened(trip)

    def opened(self, trip: CircuitTrip) -> None:
        """Tell that a circuit has opened."""
        self._core.events.append(
            CircuitOpened(
                circuit=trip.circuit,
                reason=trip.reason,
                errors=trip.errors,
                evidence=trip.evidence,
            )
        )

    # -- telling

    def told(self, call: ToolCall, finding: Finding, proposal: Proposal | None = None) -> Verdict:
        """Tell a finding; what waits for a yes is put up for it."""
        verdict = verdict_of(finding)
        seq = self.decided(call, verdict)
        if finding.parks and proposal is not None:
            state = self._core.state
            run_id = self._core.run_id
            state.approvals.park(proposal, evidence=seq, versions=state.versions, run_id=run_id)
        return verdict

    def allowed(self, call: ToolCall) -> Verdict:
        """Tell that a call may run."""
        self._tie(call, self.decided(call, ALLOW))
        return ALLOW

    def watched(self, proposal: Proposal, finding: Finding, shadow: Shadow) -> None:
        """Tell what would have been decided about a call that runs all the same."""
        finding = self._with_evidence(proposal, finding)
        self.count(proposal, finding)
        if finding.mode is not None:
            self._modes.leave_open(finding)
        else:
            shadow.note(finding)
        self._tie(proposal.call, self.decided(proposal.call, verdict_of(finding)))

    def _tie(self, call: ToolCall, seq: int) -> None:
        admitted = self._core.state.admissions.of(call)
        admitted.asked = seq
        if admitted.key is not None:
            self._core.state.evidence[admitted.key].append(seq)

    def decided(self, call: ToolCall, verdict: Verdict) -> int:
        """Tell a verdict; returns the number of the event."""
        core = self._core
        core.tally.decided(call.tool if call.tool in core.specs else UNDECLARED, verdict)
        return core.events.append(
            Decided(
                call_id=call.call_id,
                tool=call.tool,
                decision=verdict.decision,
                reason=verdict.reason,
                mode=core.mode,
            )
        )
