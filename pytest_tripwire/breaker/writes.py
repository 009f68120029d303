"""Writes: told to the ledger before they run, settled after, reconciled when an answer is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.bound_key import Act, done_before
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.checks.write_certainty import standing
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import Intent
from pytest_tripwire.breaker.kin import rights_above
from pytest_tripwire.breaker.leases import is_over, last_sent, lease_of
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.reconcile import Reading, covers, interpret, stable_id
from pytest_tripwire.breaker.records import ahead
from pytest_tripwire.timeline import (
    Outcome,
    Reconciled,
    Status,
    WriteEntry,
    WriteStatus,
)

NOTHING_HAPPENED = frozenset({Status.DEFINITE, Status.DENIED})


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A write that the ledger knows of: the key of its entry, and what it does."""

    key: str
    act: Act


class Writes:
    """Keeps the ledger of one run's writes. Used under the run's lock."""

    def __init__(self, core: Core, modes: Modes) -> None:
        self._core = core
        self._modes = modes

    def begin(self, proposal: Proposal, *, anyway: bool = False) -> Begun | WriteEntry:
        """Tell the ledger of a write that is about to run. Returns the entry of an earlier write
        that stands in the way, if there is one and it does not run `anyway`.
        """
        core, intent, spec = self._core, proposal.intent, proposal.spec
        entry, before = self._entry(proposal), 0

        def conflict(known: Sequence[WriteEntry]) -> WriteEntry | None:
            nonlocal before
            before = done_before(known, intent=intent.digest, epoch=entry.epoch)
            return None if anyway else standing(core, known, proposal)

        known = ahead(core, spec.name, entry.key) if core.ledger.durable else None
        # One that is only watched is kept from nothing.
        under = () if known is None or anyway else rights_above(core)
        other = core.ledger.begin(entry, conflict, ahead=known, under=under)
        if other is not None:
            return other
        loose = core.state.history.free.loosen(proposal.call, spec)
        core.state.own.add(entry.key, proposal, loose)
        act = Act(epoch=entry.epoch, intent=intent.digest, before=before)
        return Begun(key=entry.key, act=act)

    def _entry(self, proposal: Proposal) -> WriteEntry:
        core, spec, now = self._core, proposal.spec, self._core.clock.now()
        lease = lease_of(spec, core.context.lease_s) if core.ledger.durable else None
        return WriteEntry(
            key=core.new_key(),
            run_id=core.run_id,
            epoch=core.epoch,
            tool=spec.name,
            kind=spec.kind,
            resource=proposal.intent.resource,
            intent=proposal.intent.digest,
            dispatched_at=now,
            tenant=core.tenant,
            workflow=core.context.workflow,
            owner=core.ledger.owner,
            lease_until=None if lease is None else now + lease,
        )

    def settle(self, key: str, proposal: Proposal, outcome: Outcome) -> None:
        """Tell the ledger what is certain of a write that came back, late too."""
        status, found = WriteStatus.UNKNOWN, None
        if outcome.status is Status.OK:
            status = WriteStatus.CONFIRMED
            found = stable_id(outcome.result, proposal.spec, proposal.call.arguments)
        elif outcome.status in NOTHING_HAPPENED:
            status = WriteStatus.REJECTED
            self._core.state.own.failed(key)
        self._core.ledger.settle(key, status, result_id=found, came_back=True)
        resource = proposal.intent.resource
        if status is not WriteStatus.UNKNOWN:
            self._come_back(resource)
        elif isinstance(proposal.spec.reconcile, str):
            self._core.state.watched[resource] = proposal.spec

    def _come_back(self, resource: str) -> None:
        """A write of the run was taken for lost, held its resource, and is certain after all."""
        if resource in self._core.state.held:
            self._release_hold(resource)

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
            if status is WriteStatus.REJECTED:
                self._free_slot(entry)
        self._release_hold(intent.resource)
        return len(open_ones)

    def withdraw(self, key: str) -> None:
        """Tell the ledger that a write was never dispatched."""
        self._core.ledger.settle(key, WriteStatus.REJECTED, came_back=True)

    def lose_those_under_way(self) -> tuple[WriteEntry, ...]:
        """A write that has not come back when the run stops waiting may have happened or not. What
        another one has begun, who took the run up, is not waited for here. Returns every write of
        the run as it is known then.
        """
        ledger, run_id = self._core.ledger, self._core.run_id
        try:
            ledger.tell_doubts()
            known = ledger.of_run(run_id)
            under_way = [
                entry
                for entry in known
                if entry.status is WriteStatus.IN_FLIGHT and ledger.has_begun(entry)
            ]
            for entry in under_way:
                ledger.settle(entry.key, WriteStatus.UNKNOWN)
            return ledger.of_run(run_id) if under_way else known
        finally:
            if self._core.state.ended:
                ledger.let_go(run_id)

    def learn(self, admitted: Admitted, outcome: Outcome) -> None:
        """A read that the model makes itself may settle a write that is held or in doubt. What it
        shows is as old as its admission, however long its answer took.
        """
        proposal = admitted.proposal
        about = proposal.call.arguments
        doubtful = {**self._core.state.watched, **self._core.state.held}
        for resource, spec in doubtful.items():
            if spec.reconcile != proposal.call.tool:
                continue
            if not covers(spec, about, resource, self._core.tenant):
                continue
            for entry in self._core.ledger.bearing(resource, ""):
                if entry.status is WriteStatus.UNKNOWN:
                    age = admitted.at - last_sent(entry, now=admitted.at)
                    reading = interpret(outcome, spec, about, age_s=age)
                    self.believe(entry, reading, outcome, at=admitted.at)
            self._release_hold(resource)

    def believe(self, entry: WriteEntry, reading: Reading, outcome: Outcome, *, at: float) -> None:
        """Take a reading, made `at` that moment, for true, unless the write was settled while the
        read was under way.
        """
        known = self._core.ledger.of_resource(entry.resource)
        standing = {each.key: each.status for each in known}.get(entry.key)
        if standing is WriteStatus.CONFIRMED:
            self._core.state.answers.setdefault(entry.key, outcome.result)
        if standing is not WriteStatus.UNKNOWN:
            return
        if not self._proves(reading, entry, known, at=at):
            reading = Reading(status=WriteStatus.UNKNOWN)
        # A read that failed may be made again, and so may one that came while the write may still
        # have been on its way.
        said = outcome.status is Status.OK and (entry.lease_until is None or is_over(entry, now=at))
        self._core.ledger.settle(
            entry.key, reading.status, result_id=reading.result_id, reconciled=said
        )
        self._core.events.append(Reconciled(tool=entry.tool, status=reading.status))
        if reading.status is WriteStatus.UNKNOWN:
            return
        if reading.status is WriteStatus.CONFIRMED:
            self._core.state.answers[entry.key] = outcome.result
        else:
            self._free_slot(entry)
        self._release_hold(entry.resource)

    def _free_slot(self, entry: WriteEntry) -> None:
        """A write of this run did not happen after all; give back what was paid for it."""
        if entry.run_id == self._core.run_id and entry.key not in self._core.state.unpaid:
            self._core.accounts.settle(
                Dimension.SIDE_EFFECTS, reserved=Decimal(0), spent=Decimal(-1)
            )
            self._core.state.doubtful.pop(entry.key, None)

    def _proves(
        self, reading: Reading, entry: WriteEntry, known: Iterable[WriteEntry], *, at: float
    ) -> bool:
        """Whether a reading speaks of this write: not of one that may still be running when it
        shows nothing, and not when it shows what another write has left behind.
        """
        if reading.status is WriteStatus.REJECTED:
            standing = {each.key: each for each in known}.get(entry.key, entry)
            own = self._core.ledger.answers_for(standing)
            # The entry that was read about: a lease that ended with its process ended by then.
            return standing.came_back or (not own and is_over(entry, now=at))
        others = (*known, *self._core.ledger.of_run(self._core.run_id))
        ids = {each.result_id for each in others if each.key != entry.key}
        return reading.result_id is None or reading.result_id not in ids

    def _release_hold(self, resource: str) -> None:
        known = self._core.ledger.bearing(resource, "")
        if not any(entry.status is WriteStatus.UNKNOWN for entry in known):
            self._core.state.held.pop(resource, None)
            self._core.state.watched.pop(resource, None)
            self._modes.reopen()
