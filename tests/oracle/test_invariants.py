"""What must hold in every run: each demand broken, and each kept by what looks like breaking it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.oracle import Observation
from pytest_tripwire.oracle.invariants import (
    INVARIANTS,
    ended_in_bounds,
    interruption_is_recorded,
    no_budget_below_zero,
    no_mutation_after_stop,
    no_unknown_write_retried,
)
from pytest_tripwire.timeline import BudgetLine, Reason

Seen = Callable[..., Observation]
OTHER = "order B-2"


def test_each_invariant_is_judged() -> None:
    assert set(INVARIANTS) == {
        no_mutation_after_stop,
        no_unknown_write_retried,
        no_budget_below_zero,
        interruption_is_recorded,
        ended_in_bounds,
    }


def test_a_quiet_run_breaks_nothing(seen: Seen) -> None:
    assert [check(seen()) for check in INVARIANTS] == [None] * len(INVARIANTS)


# -- no mutation after the interruption


def test_a_write_dispatched_after_the_stop(trace: Any, seen: Seen) -> None:
    trace.read()
    late = trace.write()

    broken = no_mutation_after_stop(seen(stopped=1))

    assert broken is not None
    assert (broken.check, broken.seq) == ("no mutation after the interruption", late)
    assert (
        broken.message == "issue_refund(order A-1001) was dispatched after the run was interrupted"
    )


def test_a_write_dispatched_before_the_stop_may_land_after_it(trace: Any, seen: Seen) -> None:
    early = trace.write()
    trace.read()
    trace.lands(early)

    assert no_mutation_after_stop(seen(stopped=2)) is None


def test_reads_after_the_stop_are_no_mutation(trace: Any, seen: Seen) -> None:
    trace.write()
    trace.read()

    assert no_mutation_after_stop(seen(stopped=1)) is None


def test_without_a_stop_there_is_nothing_after_it(trace: Any, seen: Seen) -> None:
    trace.write()

    assert no_mutation_after_stop(seen()) is None


# -- no unknown write retried


def test_a_lost_write_that_is_sent_again(trace: Any, seen: Seen) -> None:
    first = trace.lost()
    again = trace.write()

    broken = no_unknown_write_retried(seen())

    assert broken is not None
    assert (broken.check, broken.seq) == ("no unknown write retried", again)
    assert f"the one dispatched at {first} was unknown" in broken.message


def test_a_lost_write_that_never_landed_is_as_unknown(trace: Any, seen: Seen) -> None:
    trace.told(trace.write(), "lost")
    again = trace.write()

    broken = no_unknown_write_retried(seen())

    assert broken is not None
    assert broken.seq == again


def test_a_write_that_was_cancelled_is_as_unknown(trace: Any, seen: Seen) -> None:
    trace.told(trace.write(), "cancelled")
    again = trace.write()

    broken = no_unknown_write_retried(seen())

    assert broken is not None
    assert broken.seq == again


@pytest.mark.parametrize("how", ["ok", "empty"])
def test_a_read_settles_it(trace: Any, seen: Seen, how: str) -> None:
    trace.lost()
    trace.told(trace.read(), how)
    trace.write()

    assert no_unknown_write_retried(seen()) is None


@pytest.mark.parametrize("how", ["lost", "error", "denied", "cancelled"])
def test_a_read_without_an_answer_does_not(trace: Any, seen: Seen, how: str) -> None:
    trace.lost()
    trace.told(trace.read(), how)
    trace.write()

    assert no_unknown_write_retried(seen()) is not None


def test_a_read_that_is_not_answered_yet_does_not(trace: Any, seen: Seen) -> None:
    trace.lost()
    reading = trace.read()
    trace.write()
    trace.told(reading)

    assert no_unknown_write_retried(seen()) is not None


def test_a_read_of_something_else_does_not(trace: Any, seen: Seen) -> None:
    trace.lost()
    trace.told(trace.read(OTHER))
    trace.write()

    assert no_unknown_write_retried(seen()) is not None


def test_a_read_that_was_under_way_before_the_write_does_not(trace: Any, seen: Seen) -> None:
    reading = trace.read()
    trace.lost()
    trace.told(reading)
    trace.write()

    assert no_unknown_write_retried(seen()) is not None


def test_a_second_lost_write_is_unknown_anew(trace: Any, seen: Seen) -> None:
    trace.lost()
    trace.told(trace.read())
    second = trace.lost()
    trace.write()

    broken = no_unknown_write_retried(seen())

    assert broken is not None
    assert f"dispatched at {second}" in broken.message


@pytest.mark.parametrize("how", ["ok", "error", "denied"])
def test_a_write_that_is_known_to_have_ended_may_be_followed(
    trace: Any, seen: Seen, how: str
) -> None:
    trace.told(trace.write(), how)
    trace.write()

    assert no_unknown_write_retried(seen()) is None


def test_a_write_of_something_else_may_follow(trace: Any, seen: Seen) -> None:
    trace.lost()
    trace.write(OTHER)

    assert no_unknown_write_retried(seen()) is None


# -- the others


@pytest.mark.parametrize(("remaining", "holds"), [(1, True), (0, True), (-0.5, False)])
def test_no_budget_below_zero(seen: Seen, remaining: float, *, holds: bool) -> None:
    fine = BudgetLine(name="max_turns", limit=3, spent=1, remaining=2)
    line = BudgetLine(name="max_cost", limit=2, spent=2 - remaining, remaining=remaining)

    broken = no_budget_below_zero(seen(budgets=(fine, line)))

    assert (broken is None) is holds
    if broken is not None:
        assert broken.message == "max_cost: -0.5 left of 2"


def test_an_interruption_without_a_record(seen: Seen) -> None:
    broken = interruption_is_recorded(seen(stopped=4, reason=Reason.DEADLINE, record=None))

    assert broken is not None
    assert broken.seq == 4
    assert broken.message == "the run was interrupted (deadline), and no record was stored"


def test_an_interruption_with_a_record_and_no_interruption_at_all(seen: Seen) -> None:
    assert interruption_is_recorded(seen(stopped=4)) is None
    assert interruption_is_recorded(seen()) is None


def test_a_loop_that_goes_through_a_ceiling(seen: Seen) -> None:
    broken = ended_in_bounds(seen(overran="more than 200 model requests"))

    assert broken is not None
    assert broken.message == "the agent's loop went on: more than 200 model requests"
    assert ended_in_bounds(seen()) is None
