"""What lives is not taken for dead, and what others have taken up is left to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import BreakerRun, Mode, Outcome, Reason, Status, ToolCall
from pytest_tripwire.guard import Resume
from pytest_tripwire.timeline import WriteStatus

from .durable_desk import SPECS, Office, Place

FREE = {name: spec for name, spec in SPECS.items() if name != "pay"}


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    place = Place(request.param, tmp_path)
    yield Office(
        place, {**FREE, "pay": msgspec.structs.replace(SPECS["pay"], requires_approval=False)}
    )
    place.close()


def proposed(run: BreakerRun, order: str, amount: int) -> tuple[ToolCall, Any]:
    call = ToolCall(
        call_id=f"{order}{amount}", tool="pay", arguments={"order": order, "amount": amount}
    )
    return call, run.decide(call)


def lost(office: Office, run: BreakerRun, order: str, amount: int) -> None:
    call, verdict = proposed(run, order, amount)
    assert verdict.allowed
    office.desk.paid.append((order, amount))
    run.settle(call, Outcome(status=Status.UNKNOWN, error="Timeout"))


def test_run_that_waits_long_for_one_write_is_not_dead_when_it_settles_another(
    office: Office,
) -> None:
    breaker = office.breaker("w1", lease_s=60)
    run = office.run(breaker)
    slow, verdict = proposed(run, "B", 5)
    assert verdict.allowed
    lost(office, run, "A", 1)
    office.clock.seconds += 61  # nothing has come of the first one yet

    assert proposed(run, "A", 1)[1].reason is Reason.DUPLICATE_WRITE  # after a read of the breaker

    assert breaker.store.record_of(run.run_id) is None
    run.settle(slow, Outcome(status=Status.OK, result={"id": "P-9"}))
    assert run.close() is None


def resumed(office: Office, run_id: str, token: int, **asked: Any) -> BreakerRun:
    return office.armed(
        office.breaker(f"op{token}").resume(
            Resume(run_id=run_id, token_version=token, operator="ada", **asked),
            authorise=lambda *_: True,
            reload=lambda _: None,
        )
    )


def test_run_that_was_taken_up_elsewhere_ends_no_interruption_of_the_other(office: Office) -> None:
    """It may still find out what became of its write; the interruption is the other's by then."""
    breaker = office.breaker("w1")
    run = office.run(breaker)
    lost(office, run, "A", 1)
    office.desk.paid.clear()  # not to be seen yet
    office.desk.find = lambda order: {"id": None, "state": "busy"}  # type: ignore[method-assign]
    office.armed(run)
    assert proposed(run, "A", 1)[1].reason is Reason.UNKNOWN_SIDE_EFFECT
    resumed(office, run.run_id, 1, read_only=True)

    assert run.resolve("pay", {"order": "A", "amount": 1}, "confirmed", "P-1") == 1
    record = breaker.store.record_of(run.run_id)
    assert record is not None
    assert (record.token_version, record.ended_as) == (2, None)
    run.close()
    record = breaker.store.record_of(run.run_id)
    assert record is not None
    assert (record.token_version, record.ended_as) == (2, None)


def test_checkpoint_that_was_held_goes_on_once_that_is_settled(office: Office) -> None:
    breaker = office.breaker("w1")
    run = office.run(breaker)
    lost(office, run, "A", 1)
    office.desk.find = lambda order: {"id": None, "state": "busy"}  # type: ignore[method-assign]
    office.armed(run)
    assert proposed(run, "A", 1)[1].reason is Reason.UNKNOWN_SIDE_EFFECT
    state = run.snapshot()
    assert run.resolve("pay", {"order": "A", "amount": 1}, "confirmed", "P-1") == 1

    later = office.run(office.breaker("w2"), state=state)

    assert later.mode is Mode.OPEN
    assert proposed(later, "B", 1)[1].allowed


def test_slow_worker_takes_nothing_back_that_somebody_has_found_out(office: Office) -> None:
    """Its service refuses what was done already, which is no word of what this call has done."""
    slow = office.breaker("w1", lease_s=60)
    run = office.run(slow)
    call, verdict = proposed(run, "A", 1)
    assert verdict.allowed
    office.clock.seconds += 61
    (entry,) = slow.store.of_run(run.run_id)
    slow.store.resolve_write(entry.key, WriteStatus.CONFIRMED, operator="ada", result_id="R-9")

    run.settle(call, Outcome(status=Status.DEFINITE, error="was paid already"))

    for again in (run, office.run(office.breaker("w2"))):
        assert proposed(again, "A", 1)[1].reason is Reason.DUPLICATE_WRITE
    (entry,) = slow.store.of_run(run.run_id)
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, "R-9")


def test_who_finds_a_write_of_another_process_under_way_is_told_when_to_ask_again(
    office: Office,
) -> None:
    first = office.run(office.breaker("w1", lease_s=60))
    assert proposed(first, "A", 1)[1].allowed
    office.clock.seconds += 20
    other = office.run(office.breaker("w2"))

    _, verdict = proposed(other, "A", 1)

    assert (verdict.reason, verdict.retry_after_s) == (Reason.DUPLICATE_WRITE, 40)
    assert "in 40 s, ask again" in verdict.as_result()["message"]
    office.clock.seconds += verdict.retry_after_s
    assert proposed(other, "A", 1)[1].allowed  # its maker is lost; the read shows nothing
    own = office.run(office.breaker("w3"), request_id="message-2")
    assert proposed(own, "B", 1)[1].allowed
    assert proposed(own, "B", 1)[1].retry_after_s == 0  # its own: nobody knows
