"""A worker that stood still past its lease, and wakes when others have done its work."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.timeline import WriteStatus

from .case import LONG, Case
from .evidence import check
from .stores import on_both
from .watch import Point
from .worker import End

START = 1.0


class Asleep:
    """A worker that has stopped at a point, and the clock that goes on."""

    def __init__(self, case: Case, nursery: Any, folder: Path) -> None:
        self.case = case
        self._nursery = nursery
        self._clock = folder / "clock"
        self._end: End | None = None

    def falls_asleep(self, function: str, event: str = "call", **life: Any) -> None:
        self._clock.write_text(str(START))
        point = Point(function=function, event=event, act=signal.SIGSTOP)
        self._end = self.case.live(
            point=point, starts_at=START, clock=str(self._clock), machine="elsewhere", **life
        )
        assert self._end.state == "stopped", self.case.story(["it did not stop"])

    def wakes(self, at: float) -> End:
        self._clock.write_text(str(at))
        assert self._end is not None
        end, self._end = self._nursery.wake(self._end), None
        assert end.state == "over", end.error
        return end

    def close(self) -> None:
        if self._end is not None:
            self._nursery.wake(self._end)


@pytest.fixture
def worker(new_case: Callable[..., Case], nursery: Any, folder: Path) -> Iterator[Asleep]:
    made = Asleep(new_case(), nursery, folder)
    yield made
    made.close()


def lines(case: Case, what: str) -> list[tuple[str, str]]:
    """Who has done that, and to which order."""
    return [(each.life.rpartition(".")[2], each.order) for each in case.lines if each.what == what]


@on_both
def test_it_does_not_begin_what_it_was_admitted_to(worker: Asleep) -> None:
    worker.falls_asleep("sql/store.py:SqlStore.begin", "return", orders=("A",))
    worker.case.live(orders=("A",))

    end = worker.wakes(3 * LONG)

    assert end.account is not None
    assert end.account.told == {"A": "stale_resume"}
    assert lines(worker.case, "asked") == [("2", "A")]
    check(worker.case)


def test_it_may_still_begin_within_its_lease(worker: Asleep) -> None:
    worker.falls_asleep("sql/store.py:SqlStore.begin", "return", orders=("A",))
    worker.wakes(200.0)

    assert lines(worker.case, "mutated") == [("1", "A")]


def test_it_does_not_begin_what_it_had_only_checked(worker: Asleep) -> None:
    worker.falls_asleep("breaker/acting.py:Acting.admit", orders=("A",))
    worker.case.live(orders=("A",))

    end = worker.wakes(3 * LONG)

    assert end.account is not None
    assert end.account.told == {"A": "duplicate_write"}
    assert lines(worker.case, "asked") == [("2", "A")]
    check(worker.case)


def test_what_it_tells_late_does_not_undo_what_is_certain(worker: Asleep) -> None:
    """Its answer was lost, others have found out that it happened, and then it says: unknown."""
    worker.falls_asleep(
        "guard/run.py:BreakerRun._fail", orders=("A",), manner="lost_answer", plot="gives_up"
    )
    worker.case.live(orders=("A",))
    worker.wakes(3 * LONG)

    ((_, entry),) = worker.case.entries()
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, f"P-A-{worker.case.name}.1")
    assert lines(worker.case, "mutated") == [("1", "A")]
    check(worker.case)


@on_both
def test_a_run_that_somebody_else_has_taken_up_writes_no_more(worker: Asleep) -> None:
    worker.falls_asleep("guard/run.py:BreakerRun._succeed", orders=("A", "B", "C"))
    case = worker.case
    name = f"{case.lived[0].life.name}#1"
    case.live(orders=("A",))  # finds out what became of A, and takes the run into the records
    resumed = case.live(plot="resumes", resumes=(name, 1), orders=("B",))
    assert resumed.account is not None
    assert resumed.account.run_id == name, case.story()

    end = worker.wakes(4 * LONG)

    assert end.account is not None
    assert end.account.told["C"] == "stale_resume"
    assert lines(case, "asked") == [("1", "A"), ("3", "B")]
    record = case.store.record_of(name)
    assert record is not None
    # What it leaves behind does not replace the record of those who have gone on.
    assert record.token_version == 2


def test_where_it_wakes_within_the_body_only_the_key_can_help(worker: Asleep) -> None:
    """No breaker can stop a request that is being made; it bears the key of the one that was."""
    worker.falls_asleep("crash/world.py:World.mutate", orders=("A",), manner="keyed")
    worker.case.live(orders=("A",), manner="keyed")

    worker.wakes(3 * LONG)

    assert lines(worker.case, "asked") == [("1", "A"), ("2", "A")]
    assert lines(worker.case, "mutated") == [("2", "A")]
    assert lines(worker.case, "known") == [("1", "A")]
