"""What can be done with a run without doing anything twice, as command lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.console.records.desk import Desk
from pytest_tripwire.console.records.known import Known
from pytest_tripwire.console.records.text import cell
from pytest_tripwire.timeline import SafeAction, WriteEntry, WriteStatus


def safe_now(desk: Desk, found: Known) -> list[str]:
    """Lines of what is safe now, each with the command that does it."""
    return [line for action in found.record.safe_actions for line in _lines(desk, found, action)]


def _lines(desk: Desk, found: Known, action: SafeAction) -> Iterator[str]:
    run_id = found.record.run_id
    match action:
        case SafeAction.INSPECT:
            yield "look at it again:"
            yield f"  {desk.command('show', run_id)}"
        case SafeAction.RECONCILE:
            yield from to_settle(desk, found)
        case SafeAction.RESUME_READ_ONLY:
            yield "let it go on without writing; hand this line to your application:"
            yield f"  {desk.command('resume-token', run_id, more='--read-only')}"
        case SafeAction.RESUME:
            yield "let it go on; hand this line to your application:"
            yield f"  {desk.command('resume-token', run_id)}"
        case SafeAction.CLOSE:
            yield "end it here; writes that may have happened stay held:"
            yield f"  {desk.command('close', run_id, more=_seen(found))}"


def _seen(found: Known) -> str:
    return f"--token-version {found.record.token_version}"


def to_settle(desk: Desk, found: Known) -> Iterator[str]:
    """What has to be found out before the run may go on."""
    for entry in found.unsettled:
        yield from _settling(desk, entry, found.record.run_id)
    if found.held_by:
        yield "it is held by writes of other runs:"
        yield from _elsewhere(desk, found.held_by)


def _settling(desk: Desk, entry: WriteEntry, run_id: str) -> Iterator[str]:
    if entry.status is WriteStatus.IN_FLIGHT:
        yield f"wait for {cell(entry.tool)}: {under_way(entry, desk.now)}"
        return
    yield f"find out whether {cell(entry.tool)} happened, and say so:"
    yield from (f"  {line}" for line in resolving(desk, run_id, entry))


def under_way(entry: WriteEntry, now: float) -> str:
    """Why nobody can say yet what becomes of a write."""
    if entry.lease_until is None:
        return "it is under way, and its worker answers for it"
    left = max(0.0, entry.lease_until - now)
    return f"it is under way, and its worker answers for it for {left:.0f} s more"


def resolving(desk: Desk, run_id: str, entry: WriteEntry) -> tuple[str, str]:
    """The two answers to what became of a write."""
    yes = desk.command("resolve", run_id, entry.key, more="--as confirmed --result-id ID")
    return yes, desk.command("resolve", run_id, entry.key, more="--as rejected")


def _elsewhere(desk: Desk, writes: Sequence[WriteEntry]) -> Iterator[str]:
    for each in writes:
        yield f"  {cell(each.tool)} {cell(each.key, 96)}, of a run that is shown by"
        yield f"    {desk.command('show', each.run_id)}"
