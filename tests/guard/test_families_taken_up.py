"""A run that somebody has taken up, or closed, writes nothing more: its sub-agents neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import BreakerRun, Mode, Reason, ToolCall
from pytest_tripwire.guard import Resume
from pytest_tripwire.timeline import Became

from .durable_desk import SPECS, Office, Place


@pytest.fixture(params=["memory", "sqlite"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    place = Place(request.param, tmp_path)
    pay = msgspec.structs.replace(SPECS["pay"], requires_approval=False)
    yield Office(place, {**SPECS, "pay": pay})
    place.close()


def resumed(office: Office, run_id: str, token: int) -> BreakerRun:
    return office.armed(
        office.breaker(f"op{token}").resume(
            Resume(run_id=run_id, token_version=token, operator="ada"),
            authorise=lambda *_: True,
            reload=lambda _: None,
        )
    )


def taken_up(office: Office, run_id: str) -> None:
    resumed(office, run_id, 2)


def closed(office: Office, run_id: str) -> None:
    store: Any = office.breaker("op").store
    assert store.end(run_id, 2, Became.CLOSED, operator="ada") is not None


WAYS = pytest.mark.parametrize("way", [taken_up, closed])


@pytest.fixture
def run(office: Office) -> BreakerRun:
    """One that was interrupted and taken up once."""
    first = office.run(office.breaker("w1"))
    first.interrupt("stop")
    first.close()
    return resumed(office, first.run_id, 1)


def pays(office: Office, run: BreakerRun, order: str) -> Any:
    """What a run gets that pays an order, with the tools of the desk."""
    call = ToolCall(call_id=order, tool="pay", arguments={"order": order})
    return office.armed(run).decide(call)


@WAYS
def test_sub_agents_write_nothing_once_their_run_is_somebody_elses(
    office: Office, run: BreakerRun, way: Callable[[Office, str], None]
) -> None:
    child = run.child("clerk")
    below = child.child("clerk of the clerk")
    assert pays(office, child, "A").allowed
    assert pays(office, below, "B").allowed

    way(office, run.run_id)

    late = run.child("another clerk")
    for each in (below, child, late, run):
        assert pays(office, each, each.run_id).reason is Reason.STALE_RESUME
        assert each.mode is Mode.STOPPED


def test_sub_agents_of_a_run_that_was_taken_up_write_for_it(
    office: Office, run: BreakerRun
) -> None:
    later = office.run(office.breaker("w3"), request_id="message-2")
    resumed(office, run.run_id, 2).child("clerk")
    assert pays(office, later.child("clerk"), "A").allowed
    assert pays(office, resumed(office, run.run_id, 3).child("clerk"), "B").allowed


def test_what_another_child_was_ended_for_keeps_no_other_from_its_work(
    office: Office, run: BreakerRun
) -> None:
    one, other = run.child("clerk"), run.child("clerk")
    one.interrupt("stop")
    one.close()
    store: Any = office.breaker("op").store
    assert store.end(one.run_id, 1, Became.CLOSED, operator="ada") is not None

    assert pays(office, other, "A").allowed
    assert pays(office, run, "B").allowed


def test_sub_agent_of_a_run_that_is_only_watched_is_kept_from_nothing(office: Office) -> None:
    first = office.run(office.breaker("w1"))
    first.interrupt("stop")
    record = first.close()
    assert record is not None
    watched = office.run(office.breaker("w2", mode="shadow"), request_id="message-2")
    child = watched.child("clerk")
    store: Any = office.breaker("op").store
    theirs = msgspec.structs.replace(record, run_id=watched.run_id, token_version=2)
    store.store_record(theirs)

    assert pays(office, child, "A").allowed
    assert len(store.of_run(child.run_id)) == 1
