"""A run that died with a write in flight gets its record from whoever looks."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.breaker import InterruptionRecord, Mode, Reason
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.ledger.lost import adopt, writes_of
from pytest_tripwire.timeline import Became, SafeAction, WriteEntry, WriteStatus

DEAD, ALIVE = 99.0, 101.0
NOW = 100.0


def entry(key: str, run_id: str = "run", **over: Any) -> WriteEntry:
    given: dict[str, Any] = {
        "tool": "pay", "kind": "pay", "epoch": "e", "resource": key, "intent": f"i-{key}",
        "dispatched_at": 1.0, "owner": "w1", "lease_until": DEAD,
    }  # fmt: skip
    return WriteEntry(key=key, run_id=run_id, **{**given, **over})


def ahead(run_id: str = "run", **over: Any) -> InterruptionRecord:
    given: dict[str, Any] = {
        "tenant": "acme", "workflow": "w@1", "mode": Mode.OPEN, "reason": Reason.CANCELLED,
        "message": "", "evidence": (), "budgets": (), "last_intent": "", "writes": (),
        "safe_actions": (SafeAction.INSPECT, SafeAction.RESUME),
    }  # fmt: skip
    return InterruptionRecord(run_id=run_id, **{**given, **over})


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger(now=lambda: 7.0)


def begin(
    ledger: MemoryLedger, *entries: WriteEntry, left: InterruptionRecord | None = None
) -> None:
    for each in entries:
        ledger.begin(each, lambda _: None, ahead=left or ahead(each.run_id))


def test_its_record_says_what_may_have_happened_and_forbids_to_go_on(ledger: MemoryLedger) -> None:
    begin(ledger, entry("a", resource="r"), entry("b", tool="mail"))
    ledger.settle("a", WriteStatus.CONFIRMED, result_id="P-1", came_back=True)

    (made,) = adopt(ledger, NOW)

    assert made == ledger.record_of("run")
    assert (made.reason, made.mode, made.tenant) == ("unknown_side_effect", "read_only", "acme")
    assert [(each.key, each.status) for each in made.writes] == [
        ("a", "confirmed"), ("b", "unknown"),
    ]  # fmt: skip
    assert made.safe_actions == ("inspect", "reconcile", "resume_read_only", "close")
    assert (made.last_tool, made.last_intent, made.at) == ("mail", "i-b", DEAD)
    assert "its call of mail any more" in made.message
    assert [each.became for each in ledger.happenings("run")] == [Became.INTERRUPTED]


@pytest.mark.parametrize(
    "over",
    [{"lease_until": ALIVE}, {"lease_until": None}, {"status": WriteStatus.CONFIRMED}],
    ids=["its worker lives", "its worker answers for ever", "it came back"],
)
def test_a_run_that_is_not_lost_is_left_alone(ledger: MemoryLedger, over: dict[str, Any]) -> None:
    begin(ledger, entry("a", **over))

    assert adopt(ledger, NOW) == ()
    assert ledger.record_of("run") is None


def test_it_is_taken_in_once(ledger: MemoryLedger) -> None:
    begin(ledger, entry("a"))

    assert len(adopt(ledger, NOW)) == 1
    assert adopt(ledger, NOW) == ()
    assert len(ledger.happenings("run")) == 1


@pytest.mark.parametrize(("lease_until", "found"), [(DEAD, 1), (ALIVE, 0)])
def test_one_that_died_after_an_answer_was_lost_is_taken_in_too(
    ledger: MemoryLedger, lease_until: float, found: int
) -> None:
    """The end of its run would have told of it, and the run did not live to see its end."""
    begin(ledger, entry("a", lease_until=lease_until))
    ledger.settle("a", WriteStatus.UNKNOWN, came_back=True)

    assert len(adopt(ledger, NOW)) == found
    assert adopt(ledger, NOW) == ()


def test_what_was_closed_does_not_come_back(ledger: MemoryLedger) -> None:
    begin(ledger, entry("a"))
    (made,) = adopt(ledger, NOW)
    ledger.end("run", made.token_version, Became.CLOSED, operator="ada")

    assert adopt(ledger, NOW) == ()
    closed = ledger.record_of("run")
    assert closed is not None
    assert closed.ended_as == "closed"
    # The write is held all the same.
    assert [each.status for each in ledger.of_run("run")] == [WriteStatus.UNKNOWN]


def test_whoever_dies_half_way_leaves_the_rest_to_the_next(ledger: MemoryLedger) -> None:
    """The record is there before the write is settled, never the other way round."""

    class Killed(MemoryLedger):
        def settle(self, *_: Any, **__: Any) -> None:
            raise KeyboardInterrupt

    killed = Killed()
    begin(killed, entry("a"))

    with pytest.raises(KeyboardInterrupt):
        adopt(killed, NOW)

    kept = killed.record_of("run")
    assert kept is not None
    assert [each.status for each in kept.writes] == [WriteStatus.UNKNOWN]


def test_a_worker_that_was_only_slow_may_still_say_what_became_of_it(ledger: MemoryLedger) -> None:
    begin(ledger, entry("a"))
    (made,) = adopt(ledger, NOW)

    ledger.settle("a", WriteStatus.CONFIRMED, result_id="P-1", came_back=True)

    assert [each.status for each in made.writes] == [WriteStatus.UNKNOWN]
    assert [each.status for each in writes_of(ledger, made, NOW)] == [WriteStatus.CONFIRMED]


def test_the_writes_of_those_who_work_for_a_run_are_its_own(ledger: MemoryLedger) -> None:
    child = entry("b", "run/1")
    begin(ledger, entry("a"), left=ahead(writes=(child,)))
    begin(ledger, child)

    made = next(each for each in adopt(ledger, NOW) if each.run_id == "run")

    assert [(each.key, each.status) for each in made.writes] == [("a", "unknown"), ("b", "unknown")]


@pytest.mark.parametrize("owner", ["w1", "w2"])
def test_a_process_that_has_certainly_ended_is_not_waited_for(owner: str) -> None:
    class Knowing(MemoryLedger):
        def is_gone(self, owner: str) -> bool:
            return owner == "w1"

    ledger = Knowing()
    begin(ledger, entry("a", owner=owner, lease_until=ALIVE))

    made = adopt(ledger, NOW)
    assert [(each.run_id, each.at) for each in made] == ([("run", NOW)] if owner == "w1" else [])
    assert [each.status for each in ledger.of_run("run")] == (
        [WriteStatus.UNKNOWN] if owner == "w1" else [WriteStatus.IN_FLIGHT]
    )


def test_what_was_closed_while_its_write_was_in_flight_is_settled_and_not_opened(
    ledger: MemoryLedger,
) -> None:
    begin(ledger, entry("a"))
    ledger.store_record(ahead())
    ledger.end("run", 1, Became.CLOSED, operator="ada")

    assert adopt(ledger, NOW) == ()
    assert [each.status for each in ledger.of_run("run")] == [WriteStatus.UNKNOWN]
    closed = ledger.record_of("run")
    assert closed is not None
    assert closed.ended_as == "closed"
