"""What must be true of a case, by the world's file first and by the store second."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.ledger.lost import adopt, writes_of
from pytest_tripwire.timeline import WriteEntry, WriteStatus

from .agent import LEASE_S
from .case import UNSETTLED, Case
from .world import Line


def check(case: Case, *, held: bool = False, again: str = "") -> None:
    """Fail with the whole story if anything is wrong, and how to have it again; see `problems`."""
    found = problems(case, held=held)
    assert not found, case.story([*found, again] if again else found)


def problems(case: Case, *, held: bool = False) -> list[str]:
    """Everything that is wrong with a case whose last life was let live.

    Args:
        case: all of its lives are over.
        held: whether a write may be left unknown, if a record tells of it.
    """
    adopt(case.store, case.life().starts_at)
    return [
        *_twice(case),
        *_blind(case),
        *_too_early(case),
        *_other_key(case),
        *_made_up(case),
        *_undone(case, held=held),
        *_untold(case),
        *_untrue(case),
    ]


def _twice(case: Case) -> Iterator[str]:
    for order in case.orders():
        made = [each for each in case.lines if _is(each, "mutated", order)]
        if len(made) > 1:
            yield f"{order} was paid {len(made)} times"


def _blind(case: Case) -> Iterator[str]:
    """A write that may have happened is not sent again before somebody has looked."""
    seen: dict[str, str] = {}
    for line in case.lines:
        if line.what == "asked" and seen.get(line.order) == "asked":
            yield f"{line.life} asked for {line.order} again, and nobody had looked between"
        if line.what in {"asked", "read"}:
            seen[line.order] = line.what
    for lived in case.lived:
        for order in lived.open_before:
            lines = case.lines[lived.done_before :]
            own = [
                each.what for each in lines if (each.life, each.order) == (lived.life.name, order)
            ]
            if "asked" in own and "read" not in own[: own.index("asked")]:
                yield f"{lived.life.name} wrote {order}, unsettled in the store, without a look"


def _too_early(case: Case) -> Iterator[str]:
    """Nobody touches what a worker of another machine may still have on its way."""
    elsewhere = {each.life.name for each in case.lived if each.life.machine}
    for order, entry in case.entries():
        if entry.came_back or _by(entry) not in elsewhere:
            continue
        for line in case.lines:
            other = line.order == order and line.life != _by(entry)
            if other and entry.dispatched_at <= line.at < entry.dispatched_at + LEASE_S:
                yield f"{order} was touched by {line.life} while its worker answers for it"


def _other_key(case: Case) -> Iterator[str]:
    for order in case.orders():
        keys = {each.key for each in case.lines if _is(each, "asked", order)}
        if len(keys) > 1 or "" in keys:
            yield f"attempts at {order} bore the keys {sorted(keys)}"


def _made_up(case: Case) -> Iterator[str]:
    """What an agent was told is in the file."""
    made = {each.id for each in case.lines if each.what == "mutated"}
    for lived in case.lived:
        for order, said in (lived.end.account.told if lived.end.account else {}).items():
            if said.startswith("P-") and said not in made:
                yield f"{lived.life.name} was told that {order} is paid as {said}, which nobody has"


def _undone(case: Case, *, held: bool) -> Iterator[str]:
    last = case.lived[-1]
    if last.end.state != "over":
        yield f"the last life was to live, and {last.end.state}"
    unsettled = case.unsettled()
    paid = {each.order for each in case.lines if each.what == "mutated"}
    for order in last.life.orders:
        if order in unsettled and not held:
            yield f"{order} is still unsettled"
        if order not in paid and not (held and order in unsettled):
            yield f"{order} was never paid"


def _untold(case: Case) -> Iterator[str]:
    """Each interruption has a record, and so has each run that died with a write on its way."""
    for order, entry in case.entries():
        if entry.status in UNSETTLED and case.store.record_of(entry.run_id) is None:
            yield f"the write {entry.key} of {order} is {entry.status}, and its run has no record"
    for line in case.lines:
        if line.what == "stopped" and case.store.record_of(f"{line.life}#1") is None:
            yield f"{line.life} was interrupted: no record"
    for number, lived in enumerate(case.lived):
        died = lived.end.state == "killed" and _opened_by(case, number)
        stopped = lived.end.account is not None and lived.end.account.interrupted
        run_id = lived.life.resumes[0] or f"{lived.life.name}#1"
        if (died or stopped) and case.store.record_of(run_id) is None:
            what = "died with a write on its way" if died else "was interrupted"
            yield f"{run_id} {what}: no record"


def _opened_by(case: Case, number: int) -> bool:
    """Whether a life has left a write unsettled that was not so before, of which nobody could say
    that its worker lived when the next came.
    """
    if number + 1 == len(case.lived):
        return False
    lived, after = case.lived[number], case.lived[number + 1]
    return any(
        not (lived.life.machine and after.life.starts_at < lease_until)
        for order, lease_until in after.open_before.items()
        if order not in lived.open_before
    )


def _untrue(case: Case) -> Iterator[str]:
    """Confirmed is in the file, rejected is not, in the store and in each record."""
    entries = case.entries()
    orders = {entry.key: order for order, entry in entries}
    told = [("the store", order, entry) for order, entry in entries]
    for record in case.records():
        kept = writes_of(case.store, record, case.life().starts_at)
        told += [
            (f"the record of {record.run_id}", orders.get(each.key, "?"), each) for each in kept
        ]
    for who, order, entry in told:
        made = {each.id: each.life for each in case.lines if _is(each, "mutated", order)}
        if entry.status is WriteStatus.CONFIRMED and entry.result_id not in made:
            yield f"{who} has {entry.key} of {order} confirmed as {entry.result_id}: nobody has it"
        # Which of several attempts of one life it was, the file cannot tell.
        same = [each for other, each in entries if other == order and _by(each) == _by(entry)]
        rejected = all(each.status is WriteStatus.REJECTED for each in same)
        if rejected and _by(entry) in made.values():
            yield f"{who} has {entry.key} of {order} rejected, and it happened"


def _by(entry: WriteEntry) -> str:
    """The life that has made an entry."""
    return entry.key.partition("#")[0]


def _is(line: Line, what: str, order: str) -> bool:
    return (line.what, line.order) == (what, order)
