"""What follows from a finding or an admission: the tail end of a decision."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.checks.budgets import needs, spent
from pytest_tripwire.breaker.checks.write_certainty import explain
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.findings import verdict_of
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.writes import Writes
from pytest_tripwire.timeline import (
    ALLOW,
    Decided,
    Mode,
    ToolCall,
    Verdict,
    WriteStatus,
)


class Acting:
    """Admits calls, or tells why not. Used under the run's lock."""

    def __init__(self, core: Core, modes: Modes, writes: Writes) -> None:
        self._core = core
        self._modes = modes
        self._writes = writes

    def admit(self, proposal: Proposal) -> Finding | None:
        """Reserve and write ahead, both or neither."""
        core = self._core
        taken = needs(core, proposal)
        short = core.accounts.reserve(taken)
        if short is not None and not core.shadow:
            return spent(short)
        admitted = Admitted(
            proposal=proposal,
            needs=taken if short is None else {},
            mode=core.mode,
            at=core.clock.now(),
        )
        try:
            finding = self._write_ahead(admitted) if proposal.spec.mutates else None
        except BaseException:
            self.release(admitted)
            raise
        if finding is not None:
            self.release(admitted)
            return finding
        self._let_in(admitted)
        return None

    def _let_in(self, admitted: Admitted) -> None:
        core, proposal = self._core, admitted.proposal
        reads_only = core.mode is Mode.READ_ONLY
        core.state.diagnosed = core.state.diagnosed or (reads_only and bool(admitted.needs))
        core.state.approvals.use(proposal, now=admitted.at)
        admitted.ticket = core.circuits.admit(
            proposal.spec.name, proposal.intent.exact, turn=proposal.turn, now=admitted.at
        )
        if core.rate is not None and core.rate.retry_after(admitted.at) <= 0:
            admitted.stamp = core.rate.add(admitted.at)
        core.state.admissions.add(admitted)
        if core.budget.max_same_intent is not None:
            # Counted at once, or calls side by side would not see one another.
            core.state.executed[proposal.intent.digest] += 1

    def _write_ahead(self, admitted: Admitted) -> Finding | None:
        key, other = self._writes.begin(admitted.proposal)
        admitted.key = key
        return None if other is None else explain(other, self._core, admitted.proposal)

    def withdraw(self, call: ToolCall) -> None:
        """Take an admission back."""
        core = self._core
        admitted = core.state.admissions.take(call)
        if core.budget.max_same_intent is not None:
            core.state.executed[admitted.proposal.intent.digest] -= 1
        self.release(admitted)
        if admitted.ticket is not None:
            core.circuits.abandon(admitted.ticket)
        if admitted.stamp is not None and core.rate is not None:
            core.rate.withdraw(admitted.stamp)
        if admitted.key is not None:
            self._writes.withdraw(admitted.key)

    def release(self, admitted: Admitted) -> None:
        """Give back what was reserved."""
        for dimension, amount in admitted.needs.items():
            self._core.accounts.settle(dimension, reserved=amount, spent=Decimal(0))

    def pay(self, admitted: Admitted, *, cost: Decimal | None, nothing_happened: bool) -> None:
        """Turn what was reserved into what was used."""
        accounts = self._core.accounts
        for dimension, amount in admitted.needs.items():
            if dimension is Dimension.MODEL_COST:
                accounts.settle(dimension, reserved=amount, spent=Decimal(0))
                continue
            freed = nothing_happened and dimension is Dimension.SIDE_EFFECTS
            accounts.settle(dimension, reserved=amount, spent=Decimal(0) if freed else amount)
        if cost:
            accounts.settle(Dimension.MODEL_COST, reserved=Decimal(0), spent=cost)

    def act(self, proposal: Proposal, finding: Finding) -> Verdict:
        """Do what a finding asks for, and tell it."""
        state = self._core.state
        state.last_intent = proposal.intent.digest
        finding = self._with_evidence(proposal, finding)
        if finding.denial is not None and finding.denial in state.denials:
            seen = state.denials[finding.denial]
            state.denials[finding.denial] = msgspec.structs.replace(seen, refused=seen.refused + 1)
        if finding.rule:
            key = (proposal.spec.kind, proposal.intent.resource, finding.rule)
            state.policy_denials[key] += 1
        self._tell_circuits(proposal, finding)
        if finding.mode is not None:
            self._modes.leave_open(finding)
        return self.told(proposal.call, finding, proposal)

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
        else:
            self._core.circuits.reject(finding.circuit, now=self._core.clock.now())

    def told(self, call: ToolCall, finding: Finding, proposal: Proposal | None = None) -> Verdict:
        """Tell a finding; what waits for a yes is put up for it."""
        verdict = verdict_of(finding)
        seq = self.decided(call, verdict)
        if finding.parks and proposal is not None:
            self._core.state.approvals.park(proposal, evidence=seq)
        return verdict

    def allowed(self, call: ToolCall) -> Verdict:
        """Tell that a call may run."""
        seq = self.decided(call, ALLOW)
        key = self._core.state.admissions.of(call).key
        if key is not None:
            self._core.state.evidence[key].append(seq)
        return ALLOW

    def decided(self, call: ToolCall, verdict: Verdict) -> int:
        """Tell a verdict; returns the number of the event."""
        return self._core.events.append(
            Decided(
                call_id=call.call_id,
                tool=call.tool,
                decision=verdict.decision,
                reason=verdict.reason,
                mode=self._core.mode,
                shadow=self._core.shadow and not verdict.allowed,
            )
        )
