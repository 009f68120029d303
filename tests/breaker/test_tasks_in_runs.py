"""Tries of a task, counted where its calls are made: in threads, in tasks, inside one another."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Mode, Reason, RunBudget, ToolCall, tool_spec
from pytest_tripwire.timeline import Decided, Timeline


@tool_spec(effect="read")
def look(order: str) -> str:
    """Look at an order."""
    return f"order {order}"


@tool_spec(effect="write", identity=("order",), reconcile="status_of")
def pay(order: str) -> str:
    """Lose the answer."""
    raise TimeoutError(order)


@tool_spec(effect="read")
def status_of(order: str) -> None:
    """Say nothing of what became of a payment."""
    raise TimeoutError(order)


def begun(attempts: int | None = 2, **limits: Any) -> Any:
    run = Breaker(budget=RunBudget(max_attempts_per_task=attempts, **limits)).run()
    run.guard([look, pay, status_of])
    return run


def reason(result: Any) -> str | None:
    return result.get("reason") if isinstance(result, dict) else None


def test_one_try_too_many_is_refused_and_the_run_goes_on() -> None:
    run = begun(2)
    told = []

    for number in range(3):
        with run.task("book") as attempt:
            told.append(run.call("look", {"order": f"A-{number}"}))
            assert attempt.allowed == (number < 2)
    with run.task("ship"):
        told.append(run.call("look", {"order": "B"}))
    told.append(run.call("look", {"order": "C"}))

    assert [reason(each) for each in told] == [None, None, "task_attempts", None, None]
    assert "The task book was tried 2 times already" in told[2]["message"]
    assert run.mode is Mode.OPEN
    assert run.close() is None


def test_a_refused_try_costs_nothing() -> None:
    run = begun(0, max_tool_calls=5)

    with run.task("book"):
        assert reason(run.call("look", {"order": "A"})) == "task_attempts"

    assert [line.spent for line in run.budgets()] == [0]


def test_without_a_limit_every_try_runs() -> None:
    run = begun(None)

    for number in range(20):
        with run.task("book") as attempt:
            assert run.call("look", {"order": f"{number}"}) == f"order {number}"
        assert attempt.number == number + 1


def test_a_task_without_a_name_is_refused_at_once() -> None:
    run = begun()

    with pytest.raises(ValueError, match=r"task\(' '\): a task needs an id"):
        run.task(" ")


def test_a_try_too_many_holds_for_all_that_is_tried_inside_it() -> None:
    run = begun(1)
    with run.task("trip"):
        pass

    with run.task("trip"), run.task("flight"):
        told = run.call("look", {"order": "A"})

    assert "The task trip" in told["message"]


def test_an_inner_task_that_was_tried_enough_leaves_the_outer_one_alone() -> None:
    run = begun(1)
    with run.task("flight"):
        pass

    with run.task("trip"):
        with run.task("flight"):
            assert reason(run.call("look", {"order": "A"})) == "task_attempts"
        assert run.call("look", {"order": "A"}) == "order A"


def test_a_task_ends_with_its_block_whatever_is_raised_in_it() -> None:
    run = begun(0)

    with pytest.raises(LookupError), run.task("book"):
        raise LookupError

    assert run.call("look", {"order": "A"}) == "order A"


def test_the_tasks_of_another_run_are_none_of_its_own() -> None:
    run, other = begun(0), begun(0)

    with run.task("book"):
        assert other.call("look", {"order": "A"}) == "order A"


def test_decided_calls_and_batches_belong_to_their_task_too() -> None:
    run = begun(0)
    call = ToolCall(call_id="1", tool="look", arguments={"order": "A"})

    with run.task("book"):
        assert run.decide(call).reason is Reason.TASK_ATTEMPTS
        assert [each.reason for each in run.decide_batch([call])] == [Reason.TASK_ATTEMPTS]
        assert asyncio.run(run.adecide(call)).reason is Reason.TASK_ATTEMPTS
        (verdict,) = asyncio.run(run.adecide_batch([call]))
        assert verdict.reason is Reason.TASK_ATTEMPTS


# -- threads and tasks


def in_thread(work: Callable[[], Any]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


def test_a_thread_keeps_its_own_task() -> None:
    run = begun(0)
    told: list[Any] = []
    copied: list[Any] = []

    with run.task("book"):
        in_thread(lambda: told.append(run.call("look", {"order": "A"})))
        context = contextvars.copy_context()
        in_thread(lambda: copied.append(context.run(run.call, "look", {"order": "A"})))

    assert told == ["order A"]
    assert reason(copied[0]) == "task_attempts"


def test_async_tasks_side_by_side_keep_theirs() -> None:
    run = begun(1)
    with run.task("book"):
        pass

    async def work(task: str) -> Any:
        with run.task(task):
            await asyncio.sleep(0)
            told = await run.acall("look", {"order": task})
            await asyncio.sleep(0)
            return told

    async def both() -> list[Any]:
        return await asyncio.gather(work("book"), work("ship"), work("pack"))

    told = asyncio.run(both())

    assert [reason(each) for each in told] == ["task_attempts", None, None]


def test_a_thread_that_a_task_hands_work_to_belongs_to_it() -> None:
    run = begun(0)

    async def work() -> Any:
        with run.task("book"):
            return await asyncio.to_thread(run.call, "look", {"order": "A"})

    assert reason(asyncio.run(work())) == "task_attempts"


def test_a_generator_may_be_closed_somewhere_else() -> None:
    run = begun(0)

    def steps() -> Any:
        with run.task("book"):
            yield run.call("look", {"order": "A"})

    generator = contextvars.copy_context().run(steps)
    first = contextvars.copy_context().run(next, generator)
    contextvars.copy_context().run(generator.close)

    assert reason(first) == "task_attempts"
    assert run.call("look", {"order": "A"}) == "order A"


# -- beside other rules


def test_the_read_that_settles_a_write_runs_in_a_try_too_many() -> None:
    run = begun(0)
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": "A"})
    assert reason(run.call("pay", {"order": "A"})) == "unknown_side_effect"

    with run.task("book"), pytest.raises(TimeoutError):
        run.call("status_of", {"order": "A"})

    assert run.mode is Mode.READ_ONLY


def test_a_try_too_many_never_hides_a_lost_write() -> None:
    run = begun(0)
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": "A"})

    with run.task("book"):
        assert reason(run.call("pay", {"order": "A"})) == "unknown_side_effect"


def test_the_refusal_stands_in_the_timeline() -> None:
    timeline = Timeline(lambda: 0.0)
    run = Breaker(budget=RunBudget(max_attempts_per_task=0)).run(timeline=timeline)
    run.guard([look])

    with run.task("book"):
        run.call("look", {"order": "A"})

    (told,) = timeline.of(Decided)
    assert (told.decision, told.reason) == ("REFUSE", Reason.TASK_ATTEMPTS)
