"""Who answers for a write: the run that has begun it, as long as that goes on, and nobody else."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Decision,
    Mode,
    Outcome,
    Reason,
    Status,
    ToolCall,
)
from pytest_tripwire.guard import Resume
from pytest_tripwire.ledger.lost import adopt

from .durable_desk import SPECS, Office, Place

LEASE_S = 60
OK = Outcome(status=Status.OK, result={"id": "P-1"})


class DownError(Exception):
    """The store cannot be told anything."""


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    place = Place(request.param, tmp_path)
    pay = msgspec.structs.replace(SPECS["pay"], requires_approval=False)
    yield Office(place, {**SPECS, "pay": pay})
    place.close()


@pytest.fixture
def breaker(office: Office) -> Breaker:
    return office.breaker("w1", lease_s=LEASE_S)


def proposed(run: BreakerRun, order: str, amount: int = 1) -> tuple[ToolCall, Any]:
    call = ToolCall(
        call_id=f"{order}{amount}", tool="pay", arguments={"order": order, "amount": amount}
    )
    return call, run.decide(call)


def begun(run: BreakerRun, order: str = "A") -> ToolCall:
    call, verdict = proposed(run, order)
    assert verdict.allowed
    return call


def statuses(breaker: Breaker, run: BreakerRun) -> list[str]:
    return [each.status.value for each in breaker.store.of_run(run.run_id)]


@contextmanager
def unreachable(breaker: Breaker) -> Iterator[None]:
    """Nothing that the store is told of a write reaches it."""

    def fails(*_: Any, **__: Any) -> None:
        raise DownError

    store: Any = breaker.store
    store.settle = fails
    yield
    del store.settle


def taken_up(office: Office, run: BreakerRun) -> tuple[Breaker, BreakerRun]:
    """The run as another process has taken it up."""
    run.interrupt("takes too long")
    other = office.breaker("w2", lease_s=LEASE_S)
    asked = Resume(run_id=run.run_id, token_version=1, operator="ada")
    return other, office.armed(
        other.resume(asked, authorise=lambda *_: True, reload=lambda _: None)
    )


# -- the end of a run


def test_end_of_a_run_leaves_the_writes_of_who_has_taken_it_up(
    office: Office, breaker: Breaker
) -> None:
    old = office.run(breaker)
    other, new = taken_up(office, old)
    call = begun(new)

    old.close()

    assert statuses(other, new) == ["in_flight"]
    assert proposed(new, "A", 2)[1].allowed
    new.settle(call, OK)
    assert new.mode is Mode.OPEN
    assert proposed(new, "B")[1].allowed


def test_end_of_a_run_gives_up_what_it_has_begun_itself(office: Office, breaker: Breaker) -> None:
    run = office.run(breaker)
    begun(run)
    begun(office.armed(run.child("clerk")), "B")

    record = run.close()

    assert record is not None
    assert [each.status.value for each in record.writes] == ["unknown", "unknown"]


def test_end_of_a_run_gives_up_what_it_has_begun_before_it_was_taken_up(
    office: Office, breaker: Breaker
) -> None:
    old = office.run(breaker)
    begun(old, "B")
    old.interrupt("takes too long")
    asked = Resume(run_id=old.run_id, token_version=1, operator="ada", read_only=True)
    office.breaker("w2").resume(asked, authorise=lambda *_: True, reload=lambda _: None)

    old.close()

    assert statuses(breaker, old) == ["unknown"]


@pytest.mark.parametrize("status", [Status.OK, Status.DEFINITE])
def test_write_that_was_taken_for_lost_holds_nothing_when_it_comes_back(
    office: Office, breaker: Breaker, status: Status
) -> None:
    run = office.run(breaker)
    call = begun(run)
    office.clock.seconds += LEASE_S + 1
    adopt(breaker.store, office.clock.now())  # as an operator's look at the records does
    office.desk.find = lambda order: {"id": None, "state": "busy"}  # type: ignore[method-assign]
    office.armed(run)
    assert proposed(run, "A", 2)[1].decision is Decision.ALLOW_READ_ONLY

    run.settle(call, Outcome(status=status, result={"id": "P-1"}))

    assert run.mode is Mode.OPEN
    assert proposed(run, "B")[1].allowed
    record = breaker.store.record_of(run.run_id)
    assert record is not None
    assert record.ended_as == "reconciled"


def test_another_write_that_comes_back_leaves_the_hold_as_it_is(
    office: Office, breaker: Breaker
) -> None:
    run = office.run(breaker)
    slow = begun(run, "B")
    lost = begun(run)
    run.settle(lost, Outcome(status=Status.UNKNOWN, error="Timeout"))
    office.desk.find = lambda order: {"id": None, "state": "busy"}  # type: ignore[method-assign]
    office.armed(run)
    assert proposed(run, "A", 2)[1].decision is Decision.ALLOW_READ_ONLY

    run.settle(slow, OK)

    assert run.mode is Mode.READ_ONLY


# -- in the process that has begun it


def ended_while_the_store_is_down(office: Office, breaker: Breaker, *, returned: bool) -> None:
    run = office.run(breaker)
    call = begun(run)
    with unreachable(breaker):
        if returned:
            with pytest.raises(DownError):
                run.settle(call, OK)
        with pytest.raises(DownError):
            run.close()
    assert statuses(breaker, run) == ["in_flight"]


def test_write_that_came_back_while_the_store_was_down_is_reconciled_by_its_own_process(
    office: Office, breaker: Breaker
) -> None:
    office.desk.paid.append(("A", 1))
    ended_while_the_store_is_down(office, breaker, returned=True)

    verdict = proposed(office.run(breaker), "A")[1]

    assert (verdict.reason, verdict.answer) == (Reason.DUPLICATE_WRITE, {"id": "P-1"})


@pytest.mark.parametrize("returned", [True, False])
def test_write_that_the_store_was_not_told_of_is_given_up_as_others_give_it_up(
    office: Office, breaker: Breaker, *, returned: bool
) -> None:
    """One that came back is read about at once; one that did not may still be on its way."""
    ended_while_the_store_is_down(office, breaker, returned=returned)

    assert proposed(office.run(breaker), "A")[1].allowed is returned
    office.clock.seconds += LEASE_S
    if not returned:
        assert proposed(office.run(breaker), "A")[1].allowed


def test_store_that_is_down_keeps_no_other_run_from_its_end(
    office: Office, breaker: Breaker
) -> None:
    other = office.run(breaker, request_id="message-2")
    ended_while_the_store_is_down(office, breaker, returned=True)

    with unreachable(breaker):
        assert other.close() is None


def test_write_of_a_run_that_goes_on_is_waited_for_however_long_it_takes(
    office: Office, breaker: Breaker
) -> None:
    run = office.run(breaker)
    call = begun(run)
    office.clock.seconds += 30 * 24 * 3600

    verdict = proposed(office.run(breaker), "A")[1]

    assert verdict.reason is Reason.DUPLICATE_WRITE
    assert "under way" in verdict.message
    run.settle(call, OK)
    assert run.close() is None


def let_go(office: Office, breaker: Breaker) -> None:
    begun(office.run(breaker))


def ended(office: Office, breaker: Breaker) -> None:
    run = office.run(breaker)
    begun(run)
    run.close()


@pytest.mark.parametrize("way", [let_go, ended])
def test_write_of_a_run_that_is_no_more_is_answered_for_until_its_lease_is_over(
    office: Office, breaker: Breaker, way: Callable[[Office, Breaker], None]
) -> None:
    way(office, breaker)
    gc.collect()

    assert not proposed(office.run(breaker), "A")[1].allowed
    office.clock.seconds += LEASE_S
    assert proposed(office.run(breaker), "A")[1].allowed  # the read shows nothing
