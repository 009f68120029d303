"""Writes: told to the ledger before they run, settled after, reconciled when an answer is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.checks.write_certainty import standing
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import Intent
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.reconcile import Reading, covers, interpret, stable_id
from pytest_tripwire.timeline import (
    Outcome,
    Reconciled,
    Status,
    WriteEntry,
    WriteStatus,
)

NOTHING_HAPPENED = frozenset({Status.DEFINITE, Status.DENIED})


class Writes:
    """Keeps the ledger of one run's writes. Used under the run's lock."""

    def __init__(self, core: Core, modes: Modes) -> None:
        self._core = core
        self._modes = modes

    def begin(self, proposal: Proposal) -> tuple[str | None, WriteEntry | None]:
        """Tell the ledger of a write that is about to run. Returns its key, or the entry of an
        earlier write that stands in the way.
        """
        intent, spec = proposal.intent, proposal.spec
        entry = WriteEntry(
            key=self._core.new_key(),
            run_id=self._core.context.run_id,
            epoch=self._core.epoch,
            tool=spec.name,
            kind=spec.kind,
            resource=intent.resource,
            intent=intent.digest,
            dispatched_at=self._core.clock.now(),
        )
        other = self._core.ledger.begin(entry, lambda known: self._conflict(known, proposal))
        if other is not None:
            return None, other
        loose = self._core.state.history.free.loosen(proposal.call, spec)
        self._core.state.own.add(entry.key, proposal, loose)
        return entry.key, None

    def _conflict(
        self, known: Sequence[WriteEntry], proposal: Proposal
    ) -> WriteEntry | None:
        return None if self._core.shadow else standing(self._core, known, proposal)

    def settle(self, key: str, proposal: Proposal, outcome: Outcome) -> None:
        """Tell the ledger what is certain of a write that came back, late too."""
        status, found = WriteStatus.UNKNOWN, None
        if outcome.status is Status.OK:
            status = WriteStatus.CONFIRMED
            found = stable_id(outcome.result, proposal.spec, proposal.call.arguments)
        elif outcome.status in NOTHING_HAPPENED:
            status = WriteStatus.REJECTED
        self._core.ledger.settle(key, status, result_id=found, came_back=True)

    def resolve(self, intent: Intent, status: WriteStatus, result_id: str | None) -> int:
        """Settle the unknown writes of one intent by what somebody knows for certain."""
        known = self._core.ledger.of_resource(intent.resource)
        open_ones = [
            each
            for each in known
            if each.status is WriteStatus.UNKNOWN and each.intent == intent.digest
        ]
        for entry in open_ones:
            self._core.ledger.settle(
                entry.key, status, result_id=result_id, reconciled=True, came_back=True
            )
            self._core.events.append(Reconciled(tool=entry.tool, status=status))
            if status is WriteStatus.REJECTED and entry.run_id == self._core.run_id:
                self._core.accounts.settle(
                    Dimension.SIDE_EFFECTS, reserved=Decimal(0), spent=Decimal(-1)
                )
        self._release_hold(intent.resource)
        return len(open_ones)

    def withdraw(self, key: str) -> None:
        """Tell the ledger that a write was never dispatched."""
        self._core.ledger.settle(key, WriteStatus.REJECTED, came_back=True)

    def lose_those_under_way(self) -> None:
        """A write that has not come back when the run stops waiting may have happened or not."""
        for entry in self._core.ledger.of_run(self._core.context.run_id):
            if entry.status is WriteStatus.IN_FLIGHT:
                self._core.ledger.settle(entry.key, WriteStatus.UNKNOWN)

    def learn(self, admitted: Admitted, outcome: Outcome) -> None:
        """A read that the model makes itself may settle a write that is held. What it shows is as
        old as its admission, however long its answer took.
        """
        proposal = admitted.proposal
        about = proposal.call.arguments
        for resource, spec in list(self._core.state.held.items()):
            if spec.reconcile != proposal.call.tool:
                continue
            if not covers(spec, about, resource, self._core.context.tenant):
                continue
            for entry in self._core.ledger.of_resource(resource):
                if entry.status is WriteStatus.UNKNOWN:
                    age = admitted.at - entry.dispatched_at
                    self.believe(entry, interpret(outcome, spec, about, age_s=age), outcome)
            self._release_hold(resource)

    def believe(self, entry: WriteEntry, reading: Reading, outcome: Outcome) -> None:
        """Take a reading for true, unless the write was settled while the read was under way."""
        known = self._core.ledger.of_resource(entry.resource)
        standing = {each.key: each.status for each in known}.get(entry.key)
        if standing is WriteStatus.CONFIRMED:
            self._core.state.answers.setdefault(entry.key, outcome.result)
        if standing is not WriteStatus.UNKNOWN:
            return
        if not self._proves(reading, entry, known):
            reading = Reading(status=WriteStatus.UNKNOWN)
        said = outcome.status is Status.OK  # a read that failed may be made again
        self._core.ledger.settle(entry.key, reading.status, result_id=reading.result_id, reconciled=said)
        self._core.events.append(Reconciled(tool=entry.tool, status=reading.status))
        if reading.status is WriteStatus.UNKNOWN:
            return
        if reading.status is WriteStatus.CONFIRMED:
            self._core.state.answers[entry.key] = outcome.result
        elif entry.run_id == self._core.context.run_id:
            self._core.accounts.settle(Dimension.SIDE_EFFECTS, reserved=Decimal(0), spent=Decimal(-1))
        self._release_hold(entry.resource)

    def _proves(self, reading: Reading, entry: WriteEntry, known: Iterable[WriteEntry]) -> bool:
        """Whether a reading speaks of this write: not of one that may still be running when it
        shows nothing, and not when it shows what another write has left behind.
        """
        if reading.status is WriteStatus.REJECTED:
            standing = {each.key: each for each in known}.get(entry.key, entry)
            return standing.came_back
        others = (*known, *self._core.ledger.of_run(self._core.context.run_id))
        ids = {each.result_id for each in others if each.key != entry.key}
        return reading.result_id is None or reading.result_id not in ids

    def _release_hold(self, resource: str) -> None:
        known = self._core.ledger.of_resource(resource)
        if not any(entry.status is WriteStatus.UNKNOWN for entry in known):
            self._core.state.held.pop(resource, None)
            self._modes.reopen()
