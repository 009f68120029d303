"""`agent-tripwire records resolve`, `close` and `resume-token`: what an operator decides."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.console.records import words
from pytest_tripwire.console.records.desk import Desk, RefusedError, operator_of
from pytest_tripwire.console.records.finding import run_of, write_of
from pytest_tripwire.console.records.known import Known, known
from pytest_tripwire.console.records.options import Closing, HandingOver, Resolving
from pytest_tripwire.console.records.safe import resolving, safe_now, to_settle, under_way
from pytest_tripwire.console.records.text import cell
from pytest_tripwire.guard.token import Token, encode
from pytest_tripwire.timeline import Became, SafeAction, WriteEntry, WriteStatus


def resolve(desk: Desk, wanted: Resolving) -> None:
    """Say what became of a write, and what is safe then.

    Raises:
        RefusedError: it is certain already, or its worker still answers for it.
    """
    operator = operator_of(wanted.operator)
    found = run_of(desk, wanted.run)
    entry = write_of(found, wanted.write)
    _resolvable(desk, entry)
    after = desk.store.resolve_write(
        entry.key, wanted.status, operator=operator, result_id=wanted.result_id
    )
    if after is None:
        raise RefusedError(_certain(desk.store.entry(entry.key) or entry))
    # First what was done: whatever fails after that has not undone it.
    desk.say([f"{_named(after)}: {words.certainty(after)}, says {cell(operator)}"])
    found = _again(desk, found)
    desk.say(["", "safe now", *(f"  {line}" for line in safe_now(desk, found))])


def _resolvable(desk: Desk, entry: WriteEntry) -> None:
    if entry.is_certain:
        raise RefusedError(_certain(entry))
    if entry.status is WriteStatus.IN_FLIGHT:
        raise RefusedError(
            f"{_named(entry)}: {under_way(entry, desk.now)}. Look again when that is over: until "
            "then it may still happen"
        )


def _certain(entry: WriteEntry) -> str:
    return f"{_named(entry)} is certain already, and stays so: it {words.certainty(entry)}"


def close(desk: Desk, wanted: Closing) -> None:
    """End an interruption; says which writes stay held.

    Raises:
        RefusedError: it is over, or somebody has taken it up since.
    """
    operator = operator_of(wanted.operator)
    found = run_of(desk, wanted.run)
    record = found.record
    _still_open(found)
    version = wanted.token_version or record.token_version
    ended = desk.store.end(record.run_id, version, Became.CLOSED, operator=operator)
    if ended is None:
        raise RefusedError(_moved_on(_again(desk, found), version))
    desk.say([f"run {cell(record.run_id, 96)}: closed by {cell(operator)}"])
    if found.unsettled:
        desk.say(["", "these stay held, in every run, until somebody knows what became of them:"])
        desk.say(list(_held(desk, found)))


def _held(desk: Desk, found: Known) -> Iterator[str]:
    for entry in found.unsettled:
        yield f"  {_named(entry)} {words.certainty(entry)}"
        if entry.status is WriteStatus.UNKNOWN:
            yield from (f"    {line}" for line in resolving(desk, found.record.run_id, entry))


def _moved_on(found: Known, version: int) -> str:
    record = found.record
    if record.ended_as is not None:
        return _over(found)
    return (
        f"run {cell(record.run_id, 96)} has token version {record.token_version} by now, and not "
        f"{version}: {words.standing(found)}. Look at it again"
    )


def hand_over(desk: Desk, wanted: HandingOver) -> None:
    """Print the line by which an application takes the run up.

    Raises:
        RefusedError: it is over, or may not go on before something is settled.
    """
    operator = operator_of(wanted.operator)
    found = run_of(desk, wanted.run)
    _still_open(found)
    record = found.record
    if not wanted.read_only and SafeAction.RESUME not in record.safe_actions:
        raise RefusedError(_not_yet(desk, found))
    if more := words.left_alone(found):
        desk.note(more)
    token = Token(
        run_id=record.run_id,
        token_version=record.token_version,
        read_only=wanted.read_only,
        made_by=operator.encode("utf-8", "replace").decode(),
    )
    try:
        desk.say([encode(token)])
    except UnicodeEncodeError:
        raise RefusedError("the id of this run is no text: no line can name it") from None


def _not_yet(desk: Desk, found: Known) -> str:
    read_only = desk.command("resume-token", found.record.run_id, more="--read-only")
    lines = [
        "it is not safe to let this run write yet. First:",
        *to_settle(desk, found),
        "or let it go on without writing:",
        f"  {read_only}",
    ]
    return "\n".join(lines)


def _still_open(found: Known) -> None:
    if found.record.ended_as is not None:
        raise RefusedError(_over(found))


def _over(found: Known) -> str:
    return f"run {cell(found.record.run_id, 96)} is over: {words.standing(found)}"


def _again(desk: Desk, found: Known) -> Known:
    record = desk.store.record_of(found.record.run_id) or found.record
    return known(desk.store, record, desk.now)


def _named(entry: WriteEntry) -> str:
    return f"{cell(entry.tool)} {cell(entry.key, 96)}"
