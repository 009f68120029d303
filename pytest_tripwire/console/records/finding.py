"""The run and the write that an operator means by an id, or by how it begins."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.console.records.desk import Desk, RefusedError
from pytest_tripwire.console.records.known import Known, known
from pytest_tripwire.console.records.text import cell
from pytest_tripwire.console.records.words import certainty
from pytest_tripwire.ledger import Wanted
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry

#: Records that are looked through for an id that begins so, and candidates that are named.
_MANY = 10_000
_NAMED = 10


def run_of(desk: Desk, name: str) -> Known:
    """What is known of the run that `name` means.

    Raises:
        RefusedError: it means none, or several.
    """
    record = desk.store.record_of(name)
    if record is None:
        record = _beginning(desk, name)
    return known(desk.store, record, desk.now)


def _beginning(desk: Desk, name: str) -> InterruptionRecord:
    everything = desk.store.records(Wanted(most=_MANY))
    found = [each for each in everything if name and each.run_id.startswith(name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise RefusedError(
            f"{cell(name)!r} may mean {len(found)} runs; say more of its id:\n{_runs(found)}"
        )
    still_open = [each for each in everything if each.ended_as is None]
    others = f"; these are open:\n{_runs(still_open)}" if still_open else ", and none is open"
    raise RefusedError(f"no interrupted run begins with {cell(name)!r}{others}")


def _runs(records: Sequence[InterruptionRecord]) -> str:
    lines = [
        f"  {cell(each.run_id, 96)}  {cell(each.workflow)}  {each.reason}"
        for each in records[:_NAMED]
    ]
    return "\n".join(_cut(lines, len(records)))


def write_of(found: Known, name: str | None) -> WriteEntry:
    """The write that `name` means, or the only unsettled one.

    Raises:
        RefusedError: it means none, or several.
    """
    writes = found.record.writes
    if name is None:
        return _only(found)
    meant = [each for each in writes if each.key == name] or [
        each for each in writes if name and each.key.startswith(name)
    ]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise RefusedError(
            f"{cell(name)!r} may mean {len(meant)} writes; say more of its key:\n{_writes(meant)}"
        )
    others = f"; it has:\n{_writes(writes)}" if writes else ", and it has none"
    raise RefusedError(f"no write of this run begins with {cell(name)!r}{others}")


def _only(found: Known) -> WriteEntry:
    if len(found.unsettled) == 1:
        return found.unsettled[0]
    if found.unsettled:
        raise RefusedError(f"say which write is meant, by its key:\n{_writes(found.unsettled)}")
    writes = found.record.writes
    known_as = f":\n{_writes(writes)}" if writes else ", as it has none"
    raise RefusedError(f"no write of this run is unsettled{known_as}")


def _writes(writes: Sequence[WriteEntry]) -> str:
    lines = [
        f"  {cell(each.key, 96)}  {cell(each.tool)}  {certainty(each)}" for each in writes[:_NAMED]
    ]
    return "\n".join(_cut(lines, len(writes)))


def _cut(lines: list[str], number: int) -> list[str]:
    return lines if number <= _NAMED else [*lines, f"  and {number - _NAMED} more"]
