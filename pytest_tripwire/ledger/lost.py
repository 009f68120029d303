"""Runs that died over a write, in flight or of which the answer was lost: nobody has told of them,
so whoever looks does.
"""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.breaker.leases import as_read, is_lease_over
from pytest_tripwire.breaker.port import Ledger
from pytest_tripwire.breaker.records import UNSETTLED, safe_actions
from pytest_tripwire.ledger.errors import UnreadableError
from pytest_tripwire.ledger.store import Store
from pytest_tripwire.timeline import InterruptionRecord, Mode, Reason, WriteEntry, WriteStatus

#: Seconds since the epoch of Unix by which every lease is over.
_EVER = 1e15
_LOST = (
    "The worker of this run is gone: nobody answers for its call of {tools} any more, which may "
    "have happened or not."
)


def writes_of(store: Ledger, record: InterruptionRecord, now: float) -> tuple[WriteEntry, ...]:
    """Every write of a run and of those that work for it, as it is known now, oldest first.

    Args:
        store: where they are kept.
        record: of the run; the writes in it may be settled since.
        now: seconds on the breaker's clock; what is in flight past its lease is unknown, and what
            a process had in flight that has certainly ended.
    """
    return tuple(as_read(entry, now=now, gone=store.is_gone) for entry in _kept(store, record))


def holding(store: Ledger, record: InterruptionRecord, now: float) -> tuple[WriteEntry, ...]:
    """Writes of other runs that hold an interrupted one, as they are known now: what it is held by
    is unsettled still.

    Args:
        store: where they are kept.
        record: of the run.
        now: seconds on the breaker's clock.
    """
    own = {each.key for each in record.writes}
    entries = (each for resource in record.held for each in store.of_resource(resource))
    read = (as_read(each, now=now, gone=store.is_gone) for each in entries)
    return tuple(each for each in read if each.status in UNSETTLED and each.key not in own)


def adopt(store: Store, now: float) -> tuple[InterruptionRecord, ...]:
    """Take every run that died over a write into the records; those that are new there. What was in
    flight is `unknown` from then on.

    Args:
        store: where to look, and where to keep them.
        now: seconds on the breaker's clock.

    Raises:
        StoreError: the store cannot be read, or not be written.
    """
    return tuple(made for left in _left(store, now) if (made := _adopted(store, left, now)))


def missing(store: Store, now: float) -> int:
    """How many runs `adopt` would take in.

    Raises:
        StoreError: the store cannot be read.
    """
    return len(_left(store, now))


def look_for_lost(ledger: Ledger, run_id: str, now: float) -> InterruptionRecord | None:
    """The record of a run that died over a write, taken into the records; None if it has not, or
    the ledger cannot tell.

    Raises:
        StoreError: the store cannot be read, or not be written.
    """
    if not hasattr(ledger, "lost"):
        return None
    left = next((each for each in _ahead(ledger) if each.run_id == run_id), None)
    return _adopted(ledger, left, now) if left is not None and _lost(ledger, left, now) else None


def as_lost(store: Ledger, left: InterruptionRecord, now: float) -> InterruptionRecord:
    """The record of a run that died, made of the one that it has left `ahead`."""
    gone, writes = _lost(store, left, now), writes_of(store, left, now)
    return msgspec.structs.replace(
        left,
        mode=Mode.READ_ONLY,
        reason=Reason.UNKNOWN_SIDE_EFFECT,
        message=_LOST.format(tools=", ".join(dict.fromkeys(each.tool for each in gone))),
        writes=writes,
        safe_actions=safe_actions(writes, held=False),
        last_tool=gone[-1].tool if gone else left.last_tool,
        last_intent=gone[-1].intent if gone else left.last_intent,
        at=max((each.lease_until or 0.0 for each in gone), default=left.at),
    )


def _adopted(store: Ledger, left: InterruptionRecord, now: float) -> InterruptionRecord | None:
    """Stored before anything else is changed: whoever dies in between leaves it to the next."""
    gone = _lost(store, left, now)
    store.store_record(as_lost(store, left, now))
    for each in gone:
        store.settle(each.key, WriteStatus.UNKNOWN)
    kept = store.record_of(left.run_id)
    return kept if kept is not None and kept.ended_as is None else None


def _left(store: Store, now: float) -> tuple[InterruptionRecord, ...]:
    """What the runs have left that died. One that cannot be read keeps none of the others out."""
    found: list[InterruptionRecord] = []
    for left in _ahead(store):
        try:
            if _lost(store, left, now):
                found.append(left)
        except UnreadableError as error:
            store.unread.leave_out(f"run {left.run_id}, whose worker may have died", error)
    return tuple(found)


def _ahead(store: Any) -> tuple[InterruptionRecord, ...]:
    """What runs have left that may have died. A store knows of leases, and not of processes."""
    left: tuple[InterruptionRecord, ...] = store.lost(_EVER)
    return left


def _lost(store: Ledger, record: InterruptionRecord, now: float) -> list[WriteEntry]:
    """Writes of a run that nobody answers for any more and no record tells of, as they are read. An
    answer that was lost is told by the end of the run, which the run may not have lived to see.
    """
    told = store.record_of(record.run_id)
    known = {each.key for each in told.writes} if told is not None else set()
    kept = {each.key: each for each in _kept(store, record)}
    return [
        each
        for each in writes_of(store, record, now)
        if each.status is WriteStatus.UNKNOWN
        and (
            kept[each.key].status is WriteStatus.IN_FLIGHT
            or (each.key not in known and _is_left(store, each, now))
        )
    ]


def _is_left(store: Ledger, entry: WriteEntry, now: float) -> bool:
    """Whether the process that has begun a write does not answer for it any more."""
    if entry.lease_until is None:
        return False
    return is_lease_over(entry, now=now) or (bool(entry.owner) and store.is_gone(entry.owner))


def _kept(store: Ledger, record: InterruptionRecord) -> list[WriteEntry]:
    runs = dict.fromkeys([record.run_id, *(each.run_id for each in record.writes)])
    entries = [entry for run_id in runs for entry in store.of_run(run_id)]
    known = {entry.key for entry in entries}
    entries += [each for each in record.writes if each.key not in known]
    return sorted(entries, key=lambda each: each.seq)
