"""A stop surfaces when the run ends, whatever the agent's framework did with it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Mode, Reason, RunBudget, tool_spec
from pytest_tripwire.guard import Interrupted

ONE_TURN = RunBudget(max_turns=1)


def stopped(run: Any, error: BaseException | None = None) -> None:
    """Stop the run, and leave its body with `error`."""
    run.before_model()
    assert not run.before_model().allowed
    if error is not None:
        raise error


def test_a_run_that_ends_well_raises_nothing() -> None:
    with Breaker(budget=ONE_TURN).run() as run:
        assert run.before_model().allowed

    assert run.mode is Mode.OPEN
    assert run.last_reason is None


def test_a_stopped_run_raises_at_its_end() -> None:
    breaker = Breaker(budget=ONE_TURN)

    with pytest.raises(Interrupted) as told, breaker.run(workflow="refunds@4") as run:
        stopped(run)

    error = told.value
    assert error.reason is Reason.TURN_BUDGET
    assert error.record == breaker.store.record_of(run.run_id)
    assert error.record.workflow == "refunds@4"
    assert run.run_id in str(error)
    assert "turn_budget" in str(error)
    assert error.__cause__ is None


@pytest.mark.parametrize(
    "error", [ValueError("own"), asyncio.CancelledError(), RecursionError("deep")]
)
def test_it_does_so_whatever_else_was_raised(error: BaseException) -> None:
    with pytest.raises(Interrupted) as told, Breaker(budget=ONE_TURN).run() as run:
        stopped(run, error)

    assert told.value.__cause__ is error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_who_wants_to_leave_is_let_go(error: BaseException) -> None:
    breaker = Breaker(budget=ONE_TURN)

    with pytest.raises(type(error)) as told, breaker.run() as run:
        stopped(run, error)

    assert told.value is error
    record = breaker.store.record_of(run.run_id)
    assert record is not None
    assert record.reason is Reason.TURN_BUDGET


def test_an_interruption_is_not_wrapped_in_another() -> None:
    breaker = Breaker(budget=ONE_TURN)
    with pytest.raises(Interrupted) as inner, breaker.run() as run:
        stopped(run)

    with pytest.raises(Interrupted) as outer, breaker.run() as run:
        stopped(run, inner.value)

    assert outer.value is inner.value


def test_an_error_in_a_run_that_is_open_passes_through() -> None:
    error = ValueError("own")

    with pytest.raises(ValueError, match="own") as told, Breaker().run():
        raise error

    assert told.value is error


def test_a_lost_write_surfaces_even_if_nobody_proposed_it_again() -> None:
    @tool_spec(effect="write")
    def pay(order: str) -> None:
        raise TimeoutError(order)

    run = Breaker().run()
    (tool,) = run.guard([pay])
    with pytest.raises(TimeoutError):
        tool("A")
    assert run.mode is Mode.OPEN
    with pytest.raises(Interrupted, match="unknown_side_effect") as told, run:
        pass

    assert told.value.record.writes[0].tool == "pay"


def test_a_run_can_be_closed_by_hand() -> None:
    run = Breaker(budget=ONE_TURN).run()
    stopped(run)

    record = run.close()
    assert record is not None
    assert record.reason is Reason.TURN_BUDGET
    assert run.run_id in repr(run)
    assert "stopped" in repr(run)


def test_no_request_is_sent_in_a_run_that_was_closed() -> None:
    run = Breaker(budget=ONE_TURN).run()
    assert run.close() is None

    refused = run.before_model()

    assert not refused.allowed
    assert refused.reason is Reason.CANCELLED


def test_runs_have_budgets_of_their_own() -> None:
    breaker = Breaker(budget=ONE_TURN)
    first, second = breaker.run(), breaker.run()

    stopped(first)

    assert second.before_model().allowed
    assert first.run_id != second.run_id
