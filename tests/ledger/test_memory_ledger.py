"""The ledger in memory keeps what the protocol promises."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_tripwire.breaker import Mode, Reason
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry, WriteStatus


@pytest.fixture
def threads_switch_often() -> Iterator[None]:
    # With the usual 5 ms a thread does all its work in one go, and nothing is tested.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def entry(key: str, resource: str = "r", **over: Any) -> WriteEntry:
    values = {
        "key": key,
        "run_id": "run",
        "epoch": "e",
        "tool": "pay",
        "kind": "pay",
        "resource": resource,
        "intent": "i",
        "dispatched_at": 1.0,
    }
    return WriteEntry(**{**values, **over})


def record(run_id: str, message: str = "") -> InterruptionRecord:
    return InterruptionRecord(
        run_id=run_id,
        tenant="",
        workflow="",
        mode=Mode.STOPPED,
        reason=Reason.DEADLINE,
        message=message,
        evidence=(),
        budgets=(),
        last_intent="",
        writes=(),
        safe_actions=(),
    )


def keys(entries: Any) -> list[str]:
    return [each.key for each in entries]


def test_entries_are_listed_by_resource_and_by_run_in_the_order_they_began() -> None:
    ledger = MemoryLedger()
    for each in (
        entry("1"),
        entry("2", "other"),
        entry("3", run_id="second"),
        entry("4"),
    ):
        assert ledger.begin(each, lambda _: None) is None

    assert keys(ledger.of_resource("r")) == ["1", "3", "4"]
    assert keys(ledger.of_run("run")) == ["1", "2", "4"]
    assert [each.seq for each in ledger.of_run("run")] == [1, 2, 4]
    assert ledger.of_resource("none") == ledger.of_run("none") == ()


def test_a_conflict_keeps_an_entry_out_and_is_shown_those_of_its_resource() -> None:
    ledger = MemoryLedger()
    ledger.begin(entry("1"), lambda _: None)
    ledger.begin(entry("2", "other"), lambda _: None)
    shown: list[Any] = []

    def conflict(known: Any) -> WriteEntry:
        shown.extend(known)
        return known[0]

    assert ledger.begin(entry("3"), conflict) == shown[0]
    assert keys(shown) == ["1"]
    assert keys(ledger.of_resource("r")) == ["1"]


def test_a_settlement_keeps_what_was_known_already() -> None:
    ledger = MemoryLedger()
    ledger.begin(entry("1"), lambda _: None)

    ledger.settle("1", WriteStatus.UNKNOWN, result_id="R-1", reconciled=True)
    ledger.settle("1", WriteStatus.CONFIRMED, reconciled=False)

    (kept,) = ledger.of_resource("r")
    assert kept == entry("1", status=WriteStatus.CONFIRMED, result_id="R-1", reconciled=True, seq=1)
    assert ledger.of_run("run") == (kept,)


def test_what_was_never_begun_cannot_be_settled() -> None:
    with pytest.raises(KeyError, match="nothing"):
        MemoryLedger().settle("nothing", WriteStatus.CONFIRMED, reconciled=False)


def test_a_run_has_one_record() -> None:
    ledger = MemoryLedger()
    assert ledger.record_of("run") is None

    ledger.store_record(record("run", "first"))
    ledger.store_record(record("other"))
    ledger.store_record(record("run", "second"))

    assert ledger.record_of("run") == record("run", "second")


def test_a_check_that_is_being_made_cannot_be_overtaken() -> None:
    ledger = MemoryLedger()
    overtaken: list[Any] = []
    other = threading.Thread(
        target=lambda: overtaken.append(
            ledger.begin(entry("other"), lambda known: known[0] if known else None)
        )
    )

    def slow(known: Any) -> WriteEntry | None:
        other.start()
        other.join(0.05)
        return known[0] if known else None

    assert ledger.begin(entry("first"), slow) is None
    other.join(20)

    assert keys(overtaken) == ["first"]
    assert keys(ledger.of_resource("r")) == ["first"]


@pytest.mark.usefixtures("threads_switch_often")
def test_check_and_insertion_are_one_step_for_any_number_of_threads() -> None:
    ledger = MemoryLedger()
    gate = threading.Barrier(24)
    through: list[int] = []

    def work(number: int) -> None:
        gate.wait(20)
        mine = entry(str(number))
        if ledger.begin(mine, lambda known: known[0] if known else None) is None:
            through.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert len(through) == 1
    assert keys(ledger.of_resource("r")) == [str(through[0])]
