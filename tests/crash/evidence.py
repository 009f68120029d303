"""What must be true of a case, by the world's file first and by the store second."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.ledger.lost import adopt, writes_of
from pytest_tripwire.ledger.store import Store
from pytest_tripwire.timeline import WriteEntry, WriteStatus

from .agent import LEASE_S
from .case import UNSETTLED, Case, opened, past_lease
from .world import Line


def check(case: Case, *, held: bool = False) -> None:
    """Fail with the whole story if anything is wrong; see `problems`."""
    found = problems(case, held=held)
    assert not found, case.story(found)


def problems(case: Case, *, held: bool = False) -> list[str]:
    """Everything that is wrong with a case whose last life was let live.

    Args:
        case: all of its lives are over.
        held: whether a write may be left unknown, if a record tells of it.
    """
    with opened(case.url) as store:
        adopt(store, case.life().starts_at)
        return [
            *_twice(case),
            *_blind(case),
            *_too_early(case, store),
            *_other_key(case),
            *_made_up(case),
            *_undone(case, store, held=held),
            *_untold(case, store),
            *_untrue(case, store),
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


def _too_early(case: Case, store: Store) -> Iterator[str]:
    """Nobody touches what a worker of another machine may still have on its way."""
    elsewhere = {each.life.name for each in case.lived if each.life.machine}
    for order, entry in case.entries(store):
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


def _undone(case: Case, store: Store, *, held: bool) -> Iterator[str]:
    last = case.lived[-1]
    if last.end.state != "over":
        yield f"the last life was to live, and {last.end.state}"
    unsettled = case.unsettled(store)
    paid = {each.order for each in case.lines if each.what == "mutated"}
    for order in last.life.orders:
        if order in unsettled and not held:
            yield f"{order} is still unsettled"
        if order not in paid and not (held and order in unsettled):
            yield f"{order} was never paid"


def _untold(case: Case, store: Store) -> Iterator[str]:
    """Each interruption has a record, and so has each run that died with a write on its way."""
    for order, entry in case.entries(store):
        if entry.status in UNSETTLED and store.record_of(entry.run_id) is None:
            yield f"the write {entry.key} of {order} is {entry.status}, and its run has no record"
    for line in case.lines:
        if line.what == "stopped" and store.record_of(f"{line.life}#1") is None:
            yield f"{line.life} was interrupted: no record"
    for number, lived in enumerate(case.lived):
        died = lived.end.state == "killed" and _opened_by(case, number)
        stopped = lived.end.account is not None and lived.end.account.interrupted
        run_id = lived.end.account.run_id if lived.end.account else f"{lived.life.name}#1"
        if (died or stopped) and store.record_of(run_id) is None:
            what = "died with a write on its way" if died else "was interrupted"
            yield f"{run_id} {what}: no record"


def _opened_by(case: Case, number: int) -> bool:
    """Whether a life has left a write unsettled that was not so before, and that nobody could have
    settled before anybody knew that the life is over.
    """
    if number + 1 == len(case.lived):
        return False
    lived, after = case.lived[number], case.lived[number + 1]
    seems_to_live = lived.life.machine and after.life.starts_at < past_lease(lived.life)
    return bool(after.open_before - lived.open_before) and not seems_to_live


def _untrue(case: Case, store: Store) -> Iterator[str]:
    """Confirmed is in the file, rejected is not, in the store and in each record."""
    entries = case.entries(store)
    orders = {entry.key: order for order, entry in entries}
    told = [("the store", order, entry) for order, entry in entries]
    for record in case.records(store):
        kept = writes_of(store, record, case.life().starts_at)
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
