"""`agent-tripwire records show`: one record wholly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.console.records import as_json, words
from pytest_tripwire.console.records.desk import Desk
from pytest_tripwire.console.records.finding import run_of
from pytest_tripwire.console.records.known import Known
from pytest_tripwire.console.records.options import Showing
from pytest_tripwire.console.records.safe import safe_now
from pytest_tripwire.console.records.text import aligned, cell, moment
from pytest_tripwire.timeline import InterruptionRecord

#: Messages are sentences, and ids have to be copied.
_WIDE = 1000


def shown(desk: Desk, wanted: Showing) -> None:
    """Show a record with its writes, its timeline and what can be done now."""
    found = run_of(desk, wanted.run)
    if wanted.as_json:
        made = as_json.Shown(record=found.record, happenings=found.happenings)
        desk.streams.stdout.write(as_json.line(made))
        return
    desk.say(list(_lines(desk, found)))


def _lines(desk: Desk, found: Known) -> Iterator[str]:
    record = found.record
    yield f"run {cell(record.run_id, _WIDE)}: {words.standing(found)}"
    if more := words.left_alone(found):
        yield f"  {more}"
    yield from _fields(found)
    yield from _part("writes", _writes(record))
    yield from _part("budgets", _budgets(record))
    yield from _part("records that it has read", _versions(record))
    yield from _part("denied", _denials(record))
    yield from _part("timeline", _timeline(record))
    yield from _part("what became of it", _happenings(found))
    yield from _part("safe now", safe_now(desk, found))


def _fields(found: Known) -> Iterator[str]:
    record = found.record
    fields = {
        "interrupted": words.when(found),
        "reason": f"{record.reason} ({record.reason.family})",
        "why": record.message,
        "left in mode": record.mode.value,
        "tenant": record.tenant,
        "workflow": record.workflow,
        "policy": record.policy,
        "request id": record.request_id,
        "inputs": record.inputs,
        "continues": record.continues,
        "works for": record.parent,
        "agent": record.agent,
        "stopped at": record.last_tool,
        "last read": _last_read(record),
        "time used": f"{record.elapsed_s:.1f} s",
        "evidence": ", ".join(map(str, record.evidence)),
        "token version": str(record.token_version),
    }
    for name, text in fields.items():
        if text:
            yield f"  {name:<14} {cell(text, _WIDE)}"


def _last_read(record: InterruptionRecord) -> str:
    at = f" at version {record.business_version}" if record.business_version else ""
    return f"{record.last_resource}{at}" if record.last_resource else ""


def _writes(record: InterruptionRecord) -> list[str]:
    rows = [
        (
            words.HAPPENED[each.status],
            cell(each.tool),
            moment(each.dispatched_at),
            _as(each.result_id),
            cell(each.key, 96),
        )
        for each in record.writes
    ]
    return aligned(("certainty", "tool", "sent", "known as", "key"), rows) if rows else ["none"]


def _as(result_id: str | None) -> str:
    return cell(result_id or "", 96)


def _budgets(record: InterruptionRecord) -> list[str]:
    rows = [
        (cell(each.name), f"{each.spent:g}", f"{each.limit:g}", f"{each.remaining:g}")
        for each in record.budgets
    ]
    return aligned(("budget", "spent", "limit", "left"), rows) if rows else []


def _versions(record: InterruptionRecord) -> list[str]:
    rows = [(cell(each.resource, 96), cell(each.version, 96)) for each in record.versions]
    return aligned(("record", "version"), rows) if rows else []


def _denials(record: InterruptionRecord) -> list[str]:
    rows = [
        (cell(each.tool), cell(", ".join(each.rules)), f"{each.refused}") for each in record.denials
    ]
    return aligned(("tool", "by", "proposed again"), rows) if rows else []


def _timeline(record: InterruptionRecord) -> list[str]:
    rows = [
        (
            f"{each.seq}",
            f"{each.at_s:.1f}s",
            cell(each.what),
            cell(each.tool),
            cell(each.outcome),
            cell(each.reason),
        )
        for each in record.steps
    ]
    return aligned(("no.", "at", "what", "tool", "outcome", "reason"), rows) if rows else []


def _happenings(found: Known) -> list[str]:
    rows = [
        (moment(each.at), each.became.value, cell(each.operator), cell(each.detail, 96))
        for each in found.happenings
    ]
    return aligned(("when", "what", "by", "detail"), rows) if rows else []


def _part(name: str, lines: Sequence[str]) -> Iterator[str]:
    """A part of the page under its name; one without anything is left out."""
    if lines:
        yield ""
        yield name
        yield from (f"  {line}" for line in lines)
