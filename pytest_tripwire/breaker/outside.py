"""What happens to a run from outside of it: the user speaks, a record changes, a person says yes,
somebody knows what became of a write.
"""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import intent_of, plain
from pytest_tripwire.breaker.keeping import forget_denials
from pytest_tripwire.breaker.writes import Writes
from pytest_tripwire.timeline import ToolCall, WriteStatus


class Outside:
    """Takes what is not a call. Every caller has been authenticated by then.

    Args:
        core: the run.
        writes: its writes.
        lock: the run's lock.
    """

    def __init__(self, core: Core, writes: Writes, lock: Any) -> None:
        self._core = core
        self._writes = writes
        self._lock = lock

    def user_message(self) -> None:
        """The user has said something: a new epoch, in which anything may be asked for again. What
        is unknown stays held.
        """
        with self._lock:
            self._core.kin.messages += 1
            self._all_anew()
            # What was denied before may be what the user has just allowed; the policy is asked
            # anew in any case.
            self._core.state.denials.clear()
            forget_denials(self._core)
            self._core.state.policy_denials.clear()
            self._core.state.denied.clear()

    def changed(self, resource: str, *, was: str = "") -> None:
        """Somebody else has changed a record, which was at version `was`."""
        with self._lock:
            self._core.kin.note_change(resource, was)
            self._core.state.fresh.changed(resource, was=was)
            if self._core.ledger.durable:
                self._core.state.approvals.recall()  # what others have put up rests on it too
            self._core.state.approvals.changed(resource, was)
            self._all_anew()

    def _all_anew(self) -> None:
        for each in self._core.kin.members:
            each.state.history.new_epoch()

    def park(self, call: ToolCall) -> None:
        """A call was put off by the caller's own approval flow."""
        with self._lock:
            spec = self._core.specs[call.tool]
            call = plain(call)
            spec = self._core.state.given.known(call, spec)
            intent = intent_of(call, spec, self._core.tenant)
            proposal = Proposal(call=call, spec=spec, intent=intent)
            state = self._core.state
            run_id = self._core.run_id
            state.approvals.park(proposal, evidence=0, versions=state.versions, run_id=run_id)

    def approve(
        self,
        call_id: str,
        *,
        expires_s: float | None = None,
        attempts: int = 1,
        version: str = "",
        policy: str = "",
        operator: str = "",
    ) -> bool:
        """A person has said yes to a call that was put up for it. Returns whether there is one."""
        with self._lock:
            now = self._core.clock.now()
            granted = self._core.state.approvals.grant(
                call_id,
                expires_at=None if expires_s is None else now + expires_s,
                attempts=attempts,
                version=version,
                policy=policy or self._core.context.policy,
                operator=operator,
            )
            self._core.state.approvals.compare(self._core.state.versions)
            return granted

    def parked(self, seconds: float) -> None:
        """The run has waited for somebody; that is no time of its own."""
        with self._lock:
            self._core.state.parked_s += seconds

    def taken_up(self, run_id: str) -> None:
        """The same piece of work goes on as another run: after a crash, or after it was parked."""
        with self._lock:
            self._writes.lose_those_under_way()
            epoch = self._core.context.epoch
            self._core.context = msgspec.structs.replace(
                self._core.context, run_id=run_id, request_id=epoch
            )
            self._core.events.run_id = run_id
            self._core.state.approvals.resumed()
            self._core.state.history.new_epoch()

    def policy_is(self, version: str) -> None:
        """The policy is now at this version."""
        with self._lock:
            self._core.context = msgspec.structs.replace(self._core.context, policy=version)
            self._core.state.approvals.under(version)

    def begun(self, run_id: str, *, request_id: str = "") -> None:
        """Another run begins, over the same ledger. What is unknown stays held in it."""
        with self._lock:
            self._writes.lose_those_under_way()
            self._core.context = msgspec.structs.replace(
                self._core.context, run_id=run_id, request_id=request_id or run_id
            )
            self._core.events.run_id = run_id
            self._core.accounts = Accounts(self._core.budget)
            self._core.context = msgspec.structs.replace(
                self._core.context, started_at=self._core.clock.now()
            )
            self._core.state.parked_s = 0.0
            self._core.state.turns = 0
            self._core.state.history.new_epoch()

    def resolve(self, call: ToolCall, status: WriteStatus, result_id: str | None = None) -> int:
        """Somebody knows for certain what became of the unknown writes that `call` asks for.
        Returns how many that settles.
        """
        with self._lock:
            spec = self._core.specs[call.tool]
            spec = self._core.state.given.known(plain(call), spec)
            intent = intent_of(plain(call), spec, self._core.tenant)
            return self._writes.resolve(intent, status, result_id)
