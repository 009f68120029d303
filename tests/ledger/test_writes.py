"""Every store keeps what the protocol promises of writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_tripwire.breaker.port import Right, SupersededError
from pytest_tripwire.ledger import Store
from pytest_tripwire.timeline import Became, WriteEntry, WriteStatus

ODD = 'a "quoted" \\ text, \x00, ü, \U0001f600 and half of a pair: \ud800'


def keys(entries: Any) -> list[str]:
    return [each.key for each in entries]


def never(_known: Any) -> None:
    return None


def first(known: Sequence[WriteEntry]) -> WriteEntry | None:
    return known[0] if known else None


def test_entries_are_listed_by_resource_and_by_run_in_the_order_they_began(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    for each in (entry("1"), entry("2", "other"), entry("3", run_id="second"), entry("4")):
        assert store.begin(each, never) is None

    assert keys(store.of_resource("r")) == ["1", "3", "4"]
    assert keys(store.of_run("run")) == ["1", "2", "4"]
    assert [each.seq for each in store.of_run("run")] == [1, 2, 4]
    assert store.of_resource("none") == store.of_run("none") == ()
    assert store.entry("3") == entry("3", run_id="second", seq=3)
    assert store.entry("none") is None


def test_an_entry_is_given_back_as_it_was_given(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    whole = entry(
        "k",
        run_id=ODD,
        epoch=ODD,
        tool=ODD,
        resource=ODD,
        tenant=ODD,
        workflow="refunds@4",
        owner="host:1:x",
        lease_until=0.1 + 0.2,
        status=WriteStatus.UNKNOWN,
        result_id=ODD,
        reconciled=True,
        came_back=True,
        seq=1,
    )

    store.begin(whole, never)

    assert store.of_run(ODD) == store.of_resource(ODD) == (whole,)


def test_a_conflict_keeps_an_entry_out_and_is_shown_those_of_its_resource(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any]
) -> None:
    store.begin(entry("1", lease_until=5.0), never)
    store.begin(entry("2", "other"), never)
    shown: list[Any] = []

    def conflict(known: Any) -> WriteEntry:
        shown.extend(known)
        return known[0]

    assert store.begin(entry("3"), conflict, ahead=record()) == shown[0]
    assert keys(shown) == ["1"]
    assert keys(store.of_resource("r")) == ["1"]
    assert store.lost(9.0) == ()


def test_what_a_check_raises_leaves_nothing_and_the_store_goes_on(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    def broken(_known: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.begin(entry("1"), broken)

    assert store.of_resource("r") == ()
    assert store.begin(entry("1"), first) is None


def test_a_settlement_keeps_what_was_known_already(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    store.begin(entry("1"), never)

    store.settle("1", WriteStatus.UNKNOWN, result_id="R-1", reconciled=True)
    store.settle("1", WriteStatus.CONFIRMED, came_back=True)
    store.settle("1", WriteStatus.UNKNOWN)

    (kept,) = store.of_resource("r")
    assert kept == entry(
        "1",
        status=WriteStatus.CONFIRMED,
        result_id="R-1",
        reconciled=True,
        came_back=True,
        seq=1,
    )
    assert store.of_run("run") == (kept,)


@pytest.mark.parametrize("late", [WriteStatus.REJECTED, WriteStatus.CONFIRMED])
@pytest.mark.parametrize("by", ["an operator", "its worker", "a read"])
def test_what_has_happened_stays_so_whoever_says_something_else_later(
    store: Store, entry: Callable[..., WriteEntry], by: str, late: WriteStatus
) -> None:
    store.begin(entry("1"), never)
    if by == "an operator":
        store.resolve_write("1", WriteStatus.CONFIRMED, operator="ada", result_id="R-9")
    else:
        store.settle("1", WriteStatus.CONFIRMED, result_id="R-9", came_back=by == "its worker")

    store.settle("1", late, result_id="P-1", came_back=True)

    kept = store.entry("1")
    assert kept is not None
    assert (kept.status, kept.result_id) == (WriteStatus.CONFIRMED, "R-9")
    assert kept.came_back


def test_an_id_that_is_learned_late_is_kept_with_what_has_happened(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    store.begin(entry("1"), never)
    store.resolve_write("1", WriteStatus.CONFIRMED, operator="ada")

    store.settle("1", WriteStatus.CONFIRMED, result_id="P-1", came_back=True)

    kept = store.entry("1")
    assert kept is not None
    assert kept.result_id == "P-1"


@pytest.mark.parametrize("status", [WriteStatus.UNKNOWN, WriteStatus.REJECTED])
def test_what_was_said_not_to_have_happened_stays_so_unless_it_did(
    store: Store, entry: Callable[..., WriteEntry], status: WriteStatus
) -> None:
    store.begin(entry("1"), never)
    store.settle("1", WriteStatus.REJECTED)

    store.settle("1", status, result_id="P-1")
    kept = store.entry("1")
    assert kept is not None
    assert (kept.status, kept.result_id) == (WriteStatus.REJECTED, None)

    store.settle("1", WriteStatus.CONFIRMED, result_id="P-1", came_back=True)
    kept = store.entry("1")
    assert kept is not None
    assert (kept.status, kept.result_id) == (WriteStatus.CONFIRMED, "P-1")


def test_what_was_never_begun_cannot_be_settled(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    with pytest.raises(KeyError, match="nothing"):
        store.settle("nothing", WriteStatus.CONFIRMED, reconciled=False)

    assert store.begin(entry("1"), first) is None


def test_a_run_that_was_taken_up_since_begins_nothing(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any]
) -> None:
    store.store_record(record(token_version=3))

    with pytest.raises(SupersededError):
        store.begin(entry("1"), never, ahead=record(token_version=2))
    assert store.begin(entry("2"), never, ahead=record(token_version=3)) is None
    assert store.begin(entry("3"), never) is None

    assert keys(store.of_run("run")) == ["2", "3"]


def taken_up(store: Store) -> None:
    assert store.claim("root", 2) is not None


def closed(store: Store) -> None:
    assert store.end("root", 2, Became.CLOSED, operator="ada") is not None


@pytest.mark.parametrize("way", [taken_up, closed])
def test_a_run_begins_nothing_once_one_that_it_works_for_was_taken_up(
    store: Store,
    entry: Callable[..., WriteEntry],
    record: Callable[..., Any],
    way: Callable[[Store], None],
) -> None:
    above = [Right(run_id="root/1", token_version=1), Right(run_id="root", token_version=2)]
    store.store_record(record("root", token_version=2))
    store.store_record(record("another", token_version=9))

    def begin(key: str, under: Sequence[Right]) -> None:
        one = entry(key, run_id="root/1/2", lease_until=5.0)
        assert store.begin(one, never, ahead=record("root/1/2"), under=under) is None

    begin("before", above)
    way(store)
    with pytest.raises(SupersededError, match=r"^root$"):
        begin("after", above)
    begin("of who took it up", [Right(run_id="root", token_version=3)])

    assert keys(store.of_resource("r")) == ["before", "of who took it up"]


@pytest.mark.parametrize("whose", ["root", "root/1"])
def test_who_takes_a_run_up_waits_for_the_write_that_is_being_begun_for_it(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any], whose: str
) -> None:
    store.store_record(record(whose))
    happened: list[str] = []
    connected, now = threading.Event(), threading.Event()

    def takes_up() -> None:
        assert store.record_of(whose) is not None
        connected.set()
        now.wait(20)
        assert store.claim(whose, 1) is not None
        happened.append("taken up")

    def slow(_known: Any) -> None:
        now.set()
        other.join(0.2)
        happened.append("begun")

    other = threading.Thread(target=takes_up)
    other.start()
    assert connected.wait(20)
    one = entry("1", run_id="root/1")
    right = Right(run_id="root", token_version=1)
    assert store.begin(one, slow, ahead=record("root/1"), under=[right]) is None
    other.join(20)

    assert happened == ["begun", "taken up"]


def test_a_check_that_is_being_made_cannot_be_overtaken(
    store: Store, entry: Callable[..., WriteEntry]
) -> None:
    overtaken: list[Any] = []
    other = threading.Thread(target=lambda: overtaken.append(store.begin(entry("other"), first)))

    def slow(known: Any) -> WriteEntry | None:
        other.start()
        other.join(0.05)
        return known[0] if known else None

    assert store.begin(entry("first"), slow) is None
    other.join(20)

    assert keys(overtaken) == ["first"]
    assert keys(store.of_resource("r")) == ["first"]


def test_who_takes_a_run_up_sees_every_write_that_it_has_begun(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any]
) -> None:
    store.store_record(record())
    seen: list[Any] = []

    def take_up() -> None:
        assert store.claim("run", 1) is not None
        seen.extend(keys(store.of_run("run")))

    other = threading.Thread(target=take_up)

    def slow(_known: Any) -> None:
        other.start()
        other.join(0.05)

    store.begin(entry("1"), slow, ahead=record())
    other.join(20)

    assert seen == ["1"]


def test_check_and_insertion_are_one_step_for_any_number_of_threads(
    store: Store, entry: Callable[..., WriteEntry], at_once: Callable[..., list[Any]]
) -> None:
    refused = at_once(24, lambda number: store.begin(entry(str(number)), first))

    (kept,) = store.of_resource("r")
    assert refused.count(None) == 1
    assert {each.key for each in refused if each is not None} == {kept.key}


def test_what_runs_that_died_have_left_is_found_by_their_leases(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any]
) -> None:
    def begin(run_id: str, **over: Any) -> None:
        ahead = record(run_id, message=f"left by {run_id}")
        store.begin(entry(f"of {run_id}", run_id, run_id=run_id, **over), never, ahead=ahead)

    begin("over", lease_until=5.0)
    store.store_record(record("over", ended_as="closed"))
    for run_id in ("open", "unheard", "settled", "dead"):
        begin(run_id, lease_until=5.0)
    begin("alive", lease_until=5.1)
    begin("in one process")
    store.store_record(record("open"))
    store.settle("of unheard", WriteStatus.UNKNOWN, came_back=True)
    store.settle("of settled", WriteStatus.REJECTED)

    assert store.lost(4.9) == ()
    assert [each.message.rpartition(" ")[2] for each in store.lost(5.0)] == [
        "over", "unheard", "dead",
    ]  # fmt: skip


def test_the_last_of_what_a_run_would_leave_is_kept(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any]
) -> None:
    for run_id, message in (("a", "first"), ("b", "other"), ("a", "second")):
        one = entry(f"{run_id}{message}", run_id=run_id, lease_until=1.0)
        store.begin(one, never, ahead=record(run_id, message=message))

    assert [each.message for each in store.lost(2.0)] == ["second", "other"]


def test_what_is_of_no_use_any_more_is_forgotten(
    store: Store, entry: Callable[..., WriteEntry], record: Callable[..., Any]
) -> None:
    for run_id in ("a", "b"):
        one = entry(f"of {run_id}", run_id, run_id=run_id, lease_until=1.0)
        store.begin(one, never, ahead=record(run_id, message=run_id))

    store.forget_ahead("a")
    store.forget_ahead("nobody")

    assert [each.message for each in store.lost(2.0)] == ["b"]
    assert keys(store.of_run("a")) == ["of a"]
