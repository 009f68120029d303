"""What a run leaves in a store when it ends."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pytest_tripwire.breaker import Breaker, Interrupted, ToolSpec
from pytest_tripwire.ledger.lost import adopt
from pytest_tripwire.timeline import WriteStatus

SPECS = {
    "pay": ToolSpec(name="pay", effect="write", identity=("order",)),
    "look": ToolSpec(name="look", effect="read"),
}


def left_ahead(path: Path) -> list[str]:
    """The runs of which it is kept what their record would be, as the file itself has it."""
    connection = sqlite3.connect(path)
    try:
        return [run_id for (run_id,) in connection.execute("SELECT run_id FROM tripwire_ahead")]
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


def lose(order: str) -> None:
    raise TimeoutError(order)


def test_a_run_that_ended_well_leaves_its_writes_and_nothing_else(path: Path) -> None:
    breaker = Breaker(store=path, specs=SPECS)
    with breaker.run(request_id="m-1") as run:
        pay = run.guard({"pay": lambda order: {"id": order}}, SPECS)["pay"]
        pay("A-1")
        assert left_ahead(path) == [run.run_id]

    assert left_ahead(path) == []
    assert len(breaker.store.of_run(run.run_id)) == 1
    assert breaker.store.record_of(run.run_id) is None


def test_a_child_that_ends_well_keeps_what_its_parent_has_left(path: Path) -> None:
    with Breaker(store=path, specs=SPECS).run(request_id="m-1") as run:
        run.guard({"pay": lambda order: {"id": order}}, SPECS)["pay"]("A-1")
        with run.child("clerk") as child:
            child.guard({"pay": lambda order: {"id": order}}, SPECS)["pay"]("A-2")
        assert left_ahead(path) == [run.run_id]


def test_a_run_that_left_a_write_unknown_keeps_all(path: Path) -> None:
    with (
        pytest.raises(Interrupted),
        Breaker(store=path, specs=SPECS).run(request_id="m-1") as run,
        pytest.raises(TimeoutError),
    ):
        run.guard({"pay": lose}, SPECS)["pay"]("A-1")

    assert left_ahead(path) == [run.run_id]


def test_a_run_that_was_only_watched_leaves_who_is_held_by_it_a_way_out(path: Path) -> None:
    """What it has lost may have happened in truth, and holds who enforces; so it can be found."""
    watching = Breaker(store=path, specs=SPECS, mode="shadow", lease_s=1)
    with watching.run(request_id="m-1") as run, pytest.raises(TimeoutError):
        run.guard({"pay": lose}, SPECS)["pay"]("A-1")
    enforcing = Breaker(store=path, specs=SPECS)
    held = enforcing.run(request_id="m-2")
    pay = held.guard({"pay": lambda order: {"id": order}}, SPECS)["pay"]
    assert pay("A-1")["reason"] == "unknown_side_effect"
    assert held.close() is not None

    store = enforcing.store
    (record,) = adopt(store, enforcing.clock.now() + 1)
    (lost,) = record.writes
    assert (record.run_id, lost.status) == (run.run_id, WriteStatus.UNKNOWN)
    store.resolve_write(lost.key, WriteStatus.REJECTED, operator="ada")

    with enforcing.run(request_id="m-2") as free:
        assert free.guard({"pay": lambda order: {"id": order}}, SPECS)["pay"]("A-1")["id"] == "A-1"


def test_a_run_that_was_only_watched_and_lost_nothing_leaves_nothing(path: Path) -> None:
    with Breaker(store=path, specs=SPECS, mode="shadow").run(request_id="m-1") as run:
        pay = run.guard({"pay": lambda order: {"id": order}}, SPECS)["pay"]
        assert pay("A-1") == pay("A-1")

    assert left_ahead(path) == []
    assert run.stats().not_run == 1


def test_a_run_over_a_shared_store_needs_a_name_that_others_know(path: Path) -> None:
    for mode in ("enforce", "shadow"):
        breaker = Breaker(store=path, specs=SPECS, mode=mode)
        with pytest.raises(ValueError, match=r"delivered again would do it again.*request_id="):
            breaker.run(tenant="acme")
        state = Breaker(specs=SPECS).run(tenant="acme").snapshot()
        with pytest.raises(ValueError, match="request_id="):
            breaker.run(tenant="acme", state=state)

    assert Breaker(store="memory:").run().close() is None
