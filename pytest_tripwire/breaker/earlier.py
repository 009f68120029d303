"""What an earlier part of a run has left, however it was kept, and what became of that since."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.epoch import messages_of, work_of
from pytest_tripwire.breaker.memory import RunMemory
from pytest_tripwire.breaker.port import Ledger
from pytest_tripwire.breaker.records import spent_before, times_of
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry, WriteStatus


class Earlier(msgspec.Struct, frozen=True, kw_only=True):
    """What counts on where a run goes on.

    Args:
        runs: ids of the family, as far as they have written anything.
        spent: what was used of each dimension.
        doubtful: keys of writes among that which may turn out not to have happened.
        said: how often the user had spoken.
        changed: what others have changed, and the version that it had before.
        attempts: tries by task.
        work: the piece of work, if the user has spoken at least as often as its writes tell.
        written: what the ledger knows by now of the writes of `runs`.
    """

    runs: tuple[str, ...]
    spent: Mapping[str, Decimal]
    doubtful: tuple[str, ...]
    said: int
    changed: tuple[tuple[str, str], ...]
    attempts: Mapping[str, int]
    work: str = ""
    written: tuple[WriteEntry, ...] = ()

    def by_now(self, ledger: Ledger) -> Earlier:
        """The same with the writes that the ledger knows of by now."""
        found = tuple(entry for run_id in self.runs for entry in ledger.of_run(run_id))
        return msgspec.structs.replace(self, written=found)

    @property
    def spent_by_now(self) -> dict[str, Decimal]:
        """What is used of the budgets. Another process of the run may have written since, and what
        was in doubt may be known not to have happened, so that its slot is free.
        """
        name = Dimension.SIDE_EFFECTS.value
        freed = sum(each.status is WriteStatus.REJECTED for each in self._in_doubt)
        written = sum(each.status is not WriteStatus.REJECTED for each in self.written)
        known = self.spent.get(name, Decimal(0)) - freed
        return {**self.spent, name: max(known, Decimal(written))}

    @property
    def doubtful_still(self) -> dict[str, None]:
        """Of the writes that were in doubt those that are so still."""
        certain = {each.key for each in self._in_doubt if each.is_certain}
        return {key: None for key in self.doubtful if key not in certain}

    @property
    def messages(self) -> int:
        """How often the user has spoken."""
        told = (
            messages_of(each.epoch) for each in self.written if work_of(each.epoch) == self.work
        )
        return max(self.said, *told, 0)

    @property
    def _in_doubt(self) -> list[WriteEntry]:
        doubtful = set(self.doubtful)
        return [each for each in self.written if each.key in doubtful]


def of_state(memory: RunMemory) -> Earlier:
    """What a state tells, which is of one moment: the message of the user that comes next may be
    the very one that came next then.
    """
    return Earlier(
        runs=memory.kin or (memory.run_id,),
        spent=memory.spent,
        doubtful=memory.doubtful,
        said=memory.messages,
        changed=memory.changed,
        attempts=memory.attempts,
    )


def of_record(record: InterruptionRecord) -> Earlier:
    """What the record of an interruption tells, which is of all that the run has done. One of an
    earlier release does not tell how often the user had spoken.
    """
    return Earlier(
        runs=tuple(dict.fromkeys((record.run_id, *(each.run_id for each in record.writes)))),
        spent=spent_before(record),
        doubtful=record.doubtful,
        said=record.messages,
        changed=tuple((each.resource, each.was) for each in record.changed),
        attempts=times_of(record.attempts),
        work=record.request_id or record.run_id,
    )
