"""A worker that is killed anywhere between a proposal and its settlement does nothing twice."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .agent import LEASE_S
from .case import LONG, Case
from .evidence import check
from .stores import at
from .watch import Point

PROPOSED = {
    "before it is proposed": ("breaker/controller.py:Controller.propose", "call"),
    "checked, before anything is taken": ("breaker/acting.py:Acting.admit", "call"),
    "in the transaction, before the insert": ("sql/writes.py:begin", "call"),
    "inserted, before the commit": ("sql/writes.py:begin", "return"),
    "committed": ("sql/store.py:SqlStore.begin", "return"),
    "at the launch": ("breaker/controller.py:Controller.launch", "call"),
    "in the body, before the effect": ("crash/world.py:World.mutate", "call"),
    "in the effect, before its answer": ("crash/world.py:World.mutate", "return"),
    "at the end of the body": ("crash/world.py:World.pay", "return"),
    "come back, before it is settled": ("guard/run.py:BreakerRun._succeed", "call"),
    "in the transaction, before it is settled": ("sql/writes.py:change", "call"),
    "settled, before the commit": ("sql/writes.py:change", "return"),
    "settled and committed": ("sql/store.py:SqlStore.settle", "return"),
    "before the result is handed on": ("guard/run.py:BreakerRun._execute", "return"),
    "as the run is closed": ("breaker/closing.py:close", "call"),
}  # fmt: skip
RECORDED = {
    "as a lost answer is told": ("breaker/controller.py:Controller.settle", "call"),
    "before the record is stored": ("sql/store.py:SqlStore.store_record", "call"),
    "in the transaction of the record": ("sql/records.py:keep", "return"),
    "the record is stored": ("sql/store.py:SqlStore.store_record", "return"),
}
RECONCILED = {
    "before the read": ("guard/toolbox.py:Toolbox.read", "call"),
    "read, before it is believed": ("breaker/writes.py:Writes.believe", "call"),
    "believed, before the commit": ("sql/writes.py:change", "return"),
    "believed and committed": ("sql/store.py:SqlStore.settle", "return"),
}
#: The dead leave nothing but what is in the store and in the world's file. Of the points that leave
#: the same there, one: those who come later and otherwise find no other difference.
LEFT = {
    name: PROPOSED[name]
    for name in (
        "checked, before anything is taken",
        "in the transaction, before the insert",
        "inserted, before the commit",
        "committed",
        "in the body, before the effect",
        "come back, before it is settled",
        "settled, before the commit",
        "settled and committed",
    )
}
#: What has happened, and is not told to the store: only there it matters when it shows.
HAPPENED = {
    name: PROPOSED[name]
    for name in (
        "in the effect, before its answer",
        "come back, before it is settled",
        "settled, before the commit",
    )
}


def point(where: tuple[str, str], nth: int = 1) -> Point:
    return Point(function=where[0], event=where[1], nth=nth)


def killed(case: Case, at: Point, **life: object) -> None:
    end = case.live(point=at, **life)
    assert end.state == "killed", case.story(["it was never there"])


@at(PROPOSED, server=PROPOSED)
def test_killed_between_proposal_and_settlement(
    new_case: Callable[..., Case], where: tuple[str, str]
) -> None:
    case = new_case()
    killed(case, point(where))
    case.live()
    check(case)


@at(LEFT, server=["settled, before the commit"])
def test_killed_at_the_same_point_again_and_again(
    new_case: Callable[..., Case], where: tuple[str, str]
) -> None:
    case = new_case()
    for _ in range(3):
        case.live(point=point(where))
    case.live()
    check(case)


@at(LEFT, server=["committed"])
def test_delivered_again_before_anybody_can_know_that_it_died(
    new_case: Callable[..., Case], where: tuple[str, str]
) -> None:
    """What is on its way may still be made by a worker that lives: nobody else makes it."""
    case = new_case()
    killed(case, point(where), starts_at=0.0, machine="elsewhere")
    end = case.live(starts_at=LEASE_S - 1)
    for order in case.lived[-1].open_before:
        assert end.account is not None
        assert end.account.told[order] == "duplicate_write", case.story()
    case.live()
    check(case)


@at(LEFT, server=["committed"])
def test_delivered_again_at_once_where_it_is_known_that_it_died(
    new_case: Callable[..., Case], where: tuple[str, str]
) -> None:
    case = new_case()
    killed(case, point(where), starts_at=0.0)
    case.live(starts_at=1.0)
    check(case)


@pytest.mark.parametrize("starts_at", [1.0, LONG], ids=["at once", "long after"])
@at(HAPPENED)
def test_killed_where_what_has_happened_shows_late(
    new_case: Callable[..., Case], where: tuple[str, str], starts_at: float
) -> None:
    case = new_case()
    killed(case, point(where), starts_at=0.0, manner="late")
    case.live(starts_at=starts_at, manner="late")
    check(case)


@pytest.mark.parametrize("plot", ["gives_up", "is_stopped"])
@at(RECORDED, server=["in the transaction of the record"])
def test_killed_while_an_interruption_is_recorded(
    new_case: Callable[..., Case], where: tuple[str, str], plot: str
) -> None:
    case = new_case()
    killed(case, point(where), manner="lost_answer", plot=plot)
    case.live(manner="lost_answer")
    check(case)


@pytest.mark.parametrize("manner", ["lost_answer", "lost_request"])
@at(RECONCILED, server=["believed, before the commit"])
def test_killed_while_a_lost_write_is_reconciled(
    new_case: Callable[..., Case], where: tuple[str, str], manner: str
) -> None:
    case = new_case()
    killed(case, point(PROPOSED["in the effect, before its answer"]))
    killed(case, point(where), manner=manner, orders=("A",))
    case.live(manner=manner)
    check(case)


@pytest.mark.parametrize("machine", ["", "elsewhere"])
def test_a_run_that_died_is_recorded_by_whoever_settles_its_write_first(
    new_case: Callable[..., Case], machine: str
) -> None:
    """Nobody has looked for runs that died before: afterwards nothing would tell of it."""
    case = new_case()
    killed(case, point(PROPOSED["in the effect, before its answer"]), machine=machine)
    case.live(look=False, **({} if machine else {"starts_at": 10_001.0}))
    check(case)


def test_a_run_that_dies_with_a_lost_answer_is_recorded_though_the_write_is_held_for_ever(
    new_case: Callable[..., Case],
) -> None:
    case = new_case()
    killed(case, point(RECORDED["before the record is stored"]), plot="gives_up",
           manner="lost_answer", reconciles=False)  # fmt: skip
    case.live(reconciles=False, look=False)
    check(case, held=True)


def test_what_never_arrived_is_sent_exactly_once_more(new_case: Callable[..., Case]) -> None:
    case = new_case()
    for where in (
        PROPOSED["in the body, before the effect"],
        RECONCILED["read, before it is believed"],
    ):
        killed(case, point(where), orders=("A",))
    case.live(orders=("A",))
    check(case)
    assert [each.what for each in case.lines] == ["asked", "read", "read", "asked", "mutated"]
