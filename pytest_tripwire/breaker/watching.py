"""Deciding in a run that is only watched: everything runs, and what would have been decided is
noted.

What an enforced run would not have let through takes nothing of the budgets, the rate and the
circuits, so that these stand as they would in an enforced run; what it really cost is booked, and
the ledger is told of every write, as others share it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_tripwire.breaker import checks
from pytest_tripwire.breaker.acting import Acting
from pytest_tripwire.breaker.budget import REASONS
from pytest_tripwire.breaker.checks.budgets import needs, spent
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Finding, Proposal
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.breaker.shadow import Shadow
from pytest_tripwire.timeline import ALLOW, Effect, ToolCall, ToolSpec, Verdict


class Watching:
    """Decides in one run that is only watched. Used under its lock."""

    def __init__(self, core: Core, acting: Acting, shadow: Shadow) -> None:
        self._core = core
        self._acting = acting
        self._shadow = shadow

    def decide(self, proposal: Proposal, problem: Finding | None) -> Verdict:
        """Let a call run, and note what would have been decided. `problem` is what makes it no call
        at all.
        """
        shadow = self._shadow
        shadow.call = proposal.call
        over = shadow.first is not None
        news, known = self._found(proposal, problem)
        rejected = next((each for each in known if each.circuit is not None), None)
        if news is None and rejected is not None:
            self._acting.count(proposal, rejected)
        self._acting.let_run(proposal, shadow, counted=news is None and rejected is None)
        if news is not None:
            self._acting.watched(proposal, news, shadow)
        else:
            self._acting.allowed(proposal.call)
        shadow.not_run += bool(over or known or news is not None)
        return ALLOW

    def _found(
        self, proposal: Proposal, problem: Finding | None
    ) -> tuple[Finding | None, list[Finding]]:
        """The weightiest finding that is news, and those that come before it and were noted: what
        has stopped the run long ago must not hide what the rules after it find.
        """
        known: list[Finding] = []
        for finding in self._findings(proposal, problem):
            if not self._shadow.again(finding):
                return finding, known
            known.append(finding)
        return None, known

    def _findings(self, proposal: Proposal, problem: Finding | None) -> Iterator[Finding]:
        if problem is not None:
            yield problem
            return
        for check in checks.ORDER:
            try:
                finding = check(self._core, proposal)
            except Exception:  # noqa: BLE001 - whatever a ledger raises
                self._shadow.failed(f"the check {check.__name__}")
                continue
            if finding is not None:
                yield finding
                yield from self._beside(proposal, finding)

    def _beside(self, proposal: Proposal, finding: Finding) -> Iterator[Finding]:
        """The other budgets that are spent: a check names one of them."""
        if finding.reason not in REASONS.values():
            return
        for dimension, amount in needs(self._core, proposal).items():
            short = self._core.accounts.short_of({dimension: amount})
            if short is not None and REASONS[short] is not finding.reason:
                yield spent(short)


def stand_in(call: ToolCall, spec: ToolSpec | None, tenant: str, turn: int) -> Proposal:
    """A proposal for what is no call: a tool that nobody declared, arguments that are none. It is
    taken for a read, as nothing is known of it.
    """
    known = spec or ToolSpec(name=call.tool, effect=Effect.READ)
    made = msgspec.structs.replace(call, arguments={})
    return Proposal(call=made, spec=known, intent=intent_of(made, known, tenant), turn=turn)
