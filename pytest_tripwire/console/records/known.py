"""A record with what has been found out since it was written."""

from __future__ import annotations

import msgspec

from pytest_tripwire.breaker.records import UNSETTLED, safe_actions
from pytest_tripwire.ledger import Store
from pytest_tripwire.ledger.lost import holding, writes_of
from pytest_tripwire.timeline import (
    Became,
    Happening,
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A record as of now.

    Args:
        record: with its writes and what is safe as they are now.
        happenings: what became of its interruptions, oldest first.
        held_by: unsettled writes of other runs that hold this one.
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


def known(store: Store, record: InterruptionRecord, now: float) -> Known:
    """What is known now of an interrupted run.

    Args:
        store: where everything is kept.
        record: as it was written.
        now: seconds on the breaker's clock.
    """
    writes = writes_of(store, record, now)
    held_by = holding(store, record, now)
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
