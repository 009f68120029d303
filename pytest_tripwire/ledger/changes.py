"""How entries, records and approvals change, as functions from values to values: every store does
the same, each in its own atomic step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from pytest_tripwire.breaker.epoch import work_of
from pytest_tripwire.breaker.port import Right
from pytest_tripwire.ledger.store import Wanted
from pytest_tripwire.timeline import (
    ApprovalNote,
    Became,
    Count,
    Happening,
    InterruptionRecord,
    SafeAction,
    WriteEntry,
    WriteStatus,
)

#: After these an interruption is still the same one.
_STILL_OPEN = frozenset({Became.INTERRUPTED, Became.RESOLVED})


def settled(
    entry: WriteEntry,
    status: WriteStatus,
    *,
    result_id: str | None,
    reconciled: bool,
    came_back: bool,
) -> WriteEntry:
    """An entry after somebody has said what is certain of it. What is certain stays so: a write
    that happened is never taken back, or it would be sent again. One that was said not to have
    happened, and did, happened.
    """
    happened_now = status is WriteStatus.CONFIRMED
    stands = entry.is_certain and (entry.status is WriteStatus.CONFIRMED or not happened_now)
    if stands:
        named = entry.result_id or (result_id if happened_now else None)
    else:
        named = result_id or entry.result_id
    return msgspec.structs.replace(
        entry,
        status=entry.status if stands else status,
        result_id=named,
        reconciled=reconciled or entry.reconciled,
        came_back=came_back or entry.came_back,
    )


def rights(ahead: InterruptionRecord | None, under: Sequence[Right]) -> tuple[Right, ...]:
    """The rights that a write rests on: that of its run, if that has one, and of those above it."""
    if ahead is None:
        return tuple(under)
    return (Right(run_id=ahead.run_id, token_version=ahead.token_version), *under)


def bearing(entries: Sequence[WriteEntry], work: str) -> tuple[WriteEntry, ...]:
    """Of the writes of a resource those that decide about the next one; see `Ledger.bearing`."""
    ours = (number for number, each in enumerate(entries) if work_of(each.epoch) == work)
    first = next(ours, len(entries))
    return (*(each for each in entries[:first] if not each.is_certain), *entries[first:])


def happened(
    record: InterruptionRecord, before: InterruptionRecord | None, told: Sequence[Happening]
) -> Became | None:
    """What is new about a record that is stored; None if nothing is that anybody would count."""
    if record.ended_as is not None:
        was_open = before is None or before.ended_as is None
        reconciled = record.ended_as == Became.RECONCILED
        return Became.RECONCILED if reconciled and was_open else None
    goes_on = bool(told) and told[-1].became in _STILL_OPEN
    return None if goes_on else Became.INTERRUPTED


def claimed(record: InterruptionRecord, action: SafeAction) -> tuple[InterruptionRecord, Became]:
    """A record after somebody has taken the run up, and what to call that."""
    read_only = action is SafeAction.RESUME_READ_ONLY
    after = msgspec.structs.replace(record, token_version=record.token_version + 1)
    return after, Became.RESUMED_READ_ONLY if read_only else Became.RESUMED


def ended(record: InterruptionRecord, became: Became) -> InterruptionRecord:
    """A record whose interruption is over."""
    return msgspec.structs.replace(
        record, ended_as=became.value, token_version=record.token_version + 1
    )


def used(note: ApprovalNote | None, times: int) -> ApprovalNote | None:
    """An approval with so many attempts less; None where it has not so many left, or rests on what
    has changed.
    """
    if note is None or not note.granted or note.left < times or (note.stale and times > 0):
        return None
    return msgspec.structs.replace(note, left=note.left - times)


def is_wanted(record: InterruptionRecord, wanted: Wanted) -> bool:
    """Whether somebody wants to see a record."""
    return (
        not (wanted.open_only and record.ended_as is not None)
        and wanted.tenant in {None, record.tenant}
        and wanted.workflow in {None, record.workflow}
        and wanted.reason in {None, record.reason}
    )


def counted(happenings: Iterable[Happening]) -> tuple[Count, ...]:
    """Interruptions by reason, workflow, tool and what became of them. The lines of each run are in
    order.
    """
    open_ones: dict[str, Happening] = {}
    numbers: Counter[tuple[Happening, str]] = Counter()
    for each in happenings:
        if each.became is Became.INTERRUPTED:
            open_ones[each.run_id] = each
        elif each.became not in _STILL_OPEN and each.run_id in open_ones:
            numbers[_kind(open_ones.pop(each.run_id)), each.became.value] += 1
    for each in open_ones.values():
        numbers[_kind(each), ""] += 1
    return tuple(
        Count(
            reason=kind.reason,
            workflow=kind.workflow,
            tool=kind.tool,
            became=became,
            number=number,
        )
        for (kind, became), number in sorted(numbers.items(), key=_order)
    )


def _kind(happening: Happening) -> Happening:
    return Happening(
        run_id="",
        became=Became.INTERRUPTED,
        at=0.0,
        reason=happening.reason,
        workflow=happening.workflow,
        tool=happening.tool,
    )


def _order(item: tuple[tuple[Happening, str], int]) -> tuple[int, str, str, str, str]:
    (kind, became), number = item
    return -number, kind.reason, kind.workflow, kind.tool, became
