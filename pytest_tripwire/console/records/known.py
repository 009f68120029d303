"""A record with what has been found out since it was written."""

from __future__ import annotations

import msgspec

from pytest_tripwire.breaker.records import UNSETTLED, safe_actions
from pytest_tripwire.ledger import Store, Wanted
from pytest_tripwire.ledger.lost import writes_of
from pytest_tripwire.timeline import (
    Became,
    Happening,
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)

#: Records that are looked through for the write that a run was held by.
_MANY = 1000


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A record as of now.

    Args:
        record: with its writes and what is safe as they are now.
        happenings: what became of its interruptions, oldest first.
        held_by: unsettled writes of other runs, of which one may hold this run.
    """

    record: InterruptionRecord
    happenings: tuple[Happening, ...]
    held_by: tuple[WriteEntry, ...] = ()

    @property
    def unsettled(self) -> tuple[WriteEntry, ...]:
        """Writes of the run that may have happened."""
        return tuple(each for each in self.record.writes if each.status in UNSETTLED)

    @property
    def unknown(self) -> tuple[WriteEntry, ...]:
        """Those of them that nobody answers for any more."""
        return tuple(each for each in self.record.writes if each.status is WriteStatus.UNKNOWN)

    @property
    def interrupted_at(self) -> float | None:
        """When it was last interrupted, in seconds since the epoch of Unix."""
        times = [each.at for each in self.happenings if each.became is Became.INTERRUPTED]
        return times[-1] if times else None

    @property
    def taken_up(self) -> Happening | None:
        """The last thing that happened to it, if that is that somebody has taken it up."""
        up = {Became.RESUMED, Became.RESUMED_READ_ONLY}
        last = self.happenings[-1] if self.happenings else None
        return last if last is not None and last.became in up else None


class Elsewhere:
    """Unsettled writes of each tenant, looked for once."""

    def __init__(self, store: Store, now: float) -> None:
        self._store = store
        self._now = now
        self._found: dict[str, tuple[WriteEntry, ...]] = {}

    def of(self, record: InterruptionRecord) -> tuple[WriteEntry, ...]:
        """Those of other runs. The record does not say which write holds its run, so every one of
        the tenant may be it.
        """
        if record.tenant not in self._found:
            self._found[record.tenant] = self._unsettled(record.tenant)
        return tuple(each for each in self._found[record.tenant] if each.run_id != record.run_id)

    def _unsettled(self, tenant: str) -> tuple[WriteEntry, ...]:
        return tuple(
            entry
            for record in self._store.records(Wanted(tenant=tenant, most=_MANY))
            for entry in writes_of(self._store, record, self._now)
            if entry.status in UNSETTLED
        )


def known(
    store: Store, record: InterruptionRecord, now: float, elsewhere: Elsewhere | None = None
) -> Known:
    """What is known now of an interrupted run.

    Args:
        store: where everything is kept.
        record: as it was written.
        now: seconds on the breaker's clock.
        elsewhere: what is known of other runs already.
    """
    writes = writes_of(store, record, now)
    others = elsewhere or Elsewhere(store, now)
    held_by = others.of(record) if _was_held_by_others(record) else ()
    return Known(
        record=msgspec.structs.replace(
            record, writes=writes, safe_actions=_safe(record, writes, held=bool(held_by))
        ),
        happenings=store.happenings(record.run_id),
        held_by=held_by,
    )


def _safe(
    record: InterruptionRecord, writes: tuple[WriteEntry, ...], *, held: bool
) -> tuple[SafeAction, ...]:
    if record.ended_as is not None:
        return (SafeAction.INSPECT,)
    return safe_actions(writes, held=held)


def _was_held_by_others(record: InterruptionRecord) -> bool:
    """Whether the run could not simply go on although all that it had written was certain."""
    unsettled = any(each.status in UNSETTLED for each in record.writes)
    return SafeAction.RESUME not in record.safe_actions and not unsettled
