"""What a run shares with the runs that work for it: sub-agents are runs of their own, over the same
budgets, the same writes, the same denials and the same circuits, under one lock.

Each has its own turns, and its own history: whether a sub-agent gets anywhere is judged by what it
does itself. A hand-off from a run to its child is beginning the child, and is counted as such; the
rule about hand-offs that go in a ring looks at the calls of one run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from pytest_tripwire.breaker.port import Conflict, Ledger
from pytest_tripwire.breaker.tasks import Tasks
from pytest_tripwire.breaker.telling import RunLock
from pytest_tripwire.timeline import (
    ApprovalNote,
    DenialNote,
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)

if TYPE_CHECKING:
    from pytest_tripwire.breaker.core import Core

#: Changes by others that are kept.
_MOST_CHANGED = 64


class Kin:
    """Owner of what is one for a whole family of runs, used under its lock.

    Args:
        lock: held by whichever of them decides or settles.
        tasks: how often each task was tried.
        number: the last round that an earlier part of the run has used.
        messages: how often the user had spoken by then.
        begun: how many children had been begun by then.
    """

    __slots__ = ("_rounds", "begun", "changed", "last", "lock", "members", "messages", "tasks")

    def __init__(
        self, lock: RunLock, tasks: Tasks, *, number: int = 0, messages: int = 0, begun: int = 0
    ) -> None:
        self.lock = lock
        self.tasks = tasks
        #: How often the user has spoken so far.
        self.messages = messages
        #: How many children were begun so far.
        self.begun = begun
        #: Those that have not ended, the first among them.
        self.members: list[Core] = []
        #: What others have changed, and at which version it was; either may be empty.
        self.changed: list[tuple[str, str]] = []
        #: The number of the latest round.
        self.last = number
        self._rounds: dict[str, tuple[int, int]] = {}

    def round_of(self, run_id: str, number: int) -> int:
        """The number of a round that no other of the family has: that of the run itself, as long as
        it has no child. It only grows, as whoever counts by it needs.
        """
        known, shared = self._rounds.get(run_id, (0, 0))
        if number != known or not shared:
            shared = self.last = max(self.last + 1, number)
            self._rounds[run_id] = (number, shared)
        return shared

    def note_change(self, resource: str, was: str) -> None:
        """Somebody else has changed a record; the latest are kept."""
        before = [each for each in self.changed if each != (resource, was)]
        self.changed[:] = [*before, (resource, was)][-_MOST_CHANGED:]

    def __contains__(self, core: object) -> bool:
        """Whether it is one of those that have not ended."""
        return any(each is core for each in self.members)

    def left(self, core: Core) -> None:
        """One of them has ended."""
        self.members[:] = [each for each in self.members if each is not core]
        self._rounds.pop(core.run_id, None)


class KinLedger:
    """The ledger as one of a family sees it: what any of them has written is its own.

    Args:
        ledger: where everything is kept.
        run_id: the one that looks.
        kin: ids of the whole family; it may grow.
    """

    __slots__ = ("_kin", "_ledger", "_run_id")

    def __init__(self, ledger: Ledger, run_id: str, kin: list[str]) -> None:
        self._ledger = ledger
        self._run_id = run_id
        self._kin = kin

    def of(self, run_id: str) -> KinLedger:
        """The same as another one of them sees it."""
        return KinLedger(self._ledger, run_id, self._kin)

    def adopt(self, run_id: str) -> None:
        """A child has begun."""
        self._kin.append(run_id)

    def disown(self, run_id: str) -> None:
        """A child that has written nothing has ended."""
        self._kin[:] = [each for each in self._kin if each != run_id]

    @property
    def kin(self) -> tuple[str, ...]:
        """Ids of the whole family, as far as they have written anything or have not ended."""
        return tuple(self._kin)

    @property
    def durable(self) -> bool:
        """See `Ledger.durable`."""
        return self._ledger.durable

    @property
    def owner(self) -> str:
        """See `Ledger.owner`."""
        return self._ledger.owner

    def begin(
        self, entry: WriteEntry, conflict: Conflict, *, ahead: InterruptionRecord | None = None
    ) -> WriteEntry | None:
        """See `Ledger.begin`."""
        return self._ledger.begin(entry, lambda known: conflict(self._own(known)), ahead=ahead)

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        """Every write of one resource, oldest first; the family's as if they were its own."""
        return self._own(self._ledger.of_resource(resource))

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        """Every write of a run and of those that work for it, as they are kept, oldest first."""
        below = [each for each in self._kin if each == run_id or each.startswith(f"{run_id}/")]
        entries = [entry for each in below or [run_id] for entry in self._ledger.of_run(each)]
        return tuple(sorted(entries, key=lambda entry: entry.seq))

    def settle(
        self,
        key: str,
        status: WriteStatus,
        *,
        result_id: str | None = None,
        reconciled: bool = False,
        came_back: bool = False,
    ) -> None:
        """See `Ledger.settle`."""
        self._ledger.settle(
            key, status, result_id=result_id, reconciled=reconciled, came_back=came_back
        )

    def store_record(self, record: InterruptionRecord) -> None:
        """See `Ledger.store_record`."""
        self._ledger.store_record(record)

    def record_of(self, run_id: str) -> InterruptionRecord | None:
        """See `Ledger.record_of`."""
        return self._ledger.record_of(run_id)

    def claim(
        self,
        run_id: str,
        token_version: int,
        *,
        operator: str = "",
        action: SafeAction = SafeAction.RESUME,
    ) -> InterruptionRecord | None:
        """See `Ledger.claim`."""
        return self._ledger.claim(run_id, token_version, operator=operator, action=action)

    def note_denials(self, run_id: str, notes: Sequence[DenialNote]) -> None:
        """See `Ledger.note_denials`."""
        self._ledger.note_denials(run_id, notes)

    def denials_of(self, run_id: str) -> tuple[DenialNote, ...]:
        """See `Ledger.denials_of`."""
        return self._ledger.denials_of(run_id)

    def keep_approval(self, note: ApprovalNote) -> None:
        """See `Ledger.keep_approval`."""
        self._ledger.keep_approval(note)

    def approvals_of(self, run_id: str) -> tuple[ApprovalNote, ...]:
        """See `Ledger.approvals_of`."""
        return self._ledger.approvals_of(run_id)

    def use_approval(self, run_id: str, call_id: str, times: int = 1) -> bool:
        """See `Ledger.use_approval`."""
        return self._ledger.use_approval(run_id, call_id, times)

    def _own(self, known: Sequence[WriteEntry]) -> tuple[WriteEntry, ...]:
        return tuple(
            msgspec.structs.replace(entry, run_id=self._run_id)
            if entry.run_id in self._kin
            else entry
            for entry in known
        )
