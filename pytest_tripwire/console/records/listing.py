"""`agent-tripwire records list` and `stats`: what there is, in a table or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.console.records import as_json, words
from pytest_tripwire.console.records.desk import Desk
from pytest_tripwire.console.records.known import Known, known
from pytest_tripwire.console.records.options import Counting, Listing
from pytest_tripwire.console.records.text import aligned, cell
from pytest_tripwire.ledger import UnreadableError, Wanted
from pytest_tripwire.timeline import InterruptionRecord

_HEAD = ("run", "interrupted", "workflow", "tenant", "reason", "mode", "unsettled", "state")
_COUNTS = ("reason", "workflow", "tool", "became", "number")
#: Characters of a run's id that are shown at least.
_FEWEST = 12


def listed(desk: Desk, wanted: Listing) -> None:
    """Show records, the latest first."""
    # One more than is shown tells whether there are more.
    asked = Wanted(
        open_only=wanted.open_only,
        tenant=wanted.tenant,
        workflow=wanted.workflow,
        reason=wanted.reason,
        most=wanted.most + 1,
    )
    records = desk.store.records(asked)
    found = list(_known(desk, records[: wanted.most]))
    if wanted.as_json:
        desk.streams.stdout.write(b"".join(as_json.line(each.record) for each in found))
    else:
        desk.say(_table(found) if found else [_none(wanted)])
    if len(records) > wanted.most:
        desk.note(f"there are more than {wanted.most}; the latest are shown, see --most")


def _known(desk: Desk, records: Sequence[InterruptionRecord]) -> Iterator[Known]:
    """One of which a write cannot be read hides none of the others."""
    for each in records:
        try:
            yield known(desk.store, each, desk.now)
        except UnreadableError as error:
            desk.store.unread.leave_out(f"run {each.run_id}", error)


def _none(wanted: Listing) -> str:
    filtered = wanted.tenant or wanted.workflow or wanted.reason
    kind = "open interruption" if wanted.open_only else "interruption"
    return f"no {kind}{' of this kind' if filtered else ''}"


def _table(found: Sequence[Known]) -> list[str]:
    names = short_ids([each.record.run_id for each in found])
    return aligned(_HEAD, [_row(each, names[each.record.run_id]) for each in found])


def _row(each: Known, name: str) -> tuple[str, ...]:
    record = each.record
    return (
        cell(name, 96),
        words.when(each),
        cell(record.workflow, 30),
        cell(record.tenant, 30),
        record.reason.value,
        record.mode.value,
        words.unsettled(each),
        words.standing(each),
    )


def short_ids(ids: Sequence[str]) -> dict[str, str]:
    """How each id begins, as far as it takes to tell it from the others."""
    return {one: _short(one, [each for each in ids if each != one]) for one in ids}


def _short(one: str, others: Sequence[str]) -> str:
    for length in range(_FEWEST, len(one)):
        if not any(each.startswith(one[:length]) for each in others):
            return one[:length]
    return one


def counted(desk: Desk, wanted: Counting) -> None:
    """Show how many interruptions there were."""
    counts = desk.store.counts()
    if wanted.as_json:
        desk.streams.stdout.write(b"".join(map(as_json.line, counts)))
        return
    rows = [
        (
            each.reason.value,
            cell(each.workflow),
            cell(each.tool),
            cell(each.became or "open"),
            f"{each.number}",
        )
        for each in counts
    ]
    total = f"{sum(each.number for each in counts)} in all"
    desk.say([*aligned(_COUNTS, rows), total] if rows else ["no interruption"])
