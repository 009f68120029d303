"""Async tools: awaited like the tool itself, cancelled without losing track of a write."""

from __future__ import annotations

import asyncio
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Breaker, Mode, Reason, RunBudget, ToolCall, tool_spec
from pytest_tripwire.guard import Interrupted
from pytest_tripwire.timeline import WriteStatus


class Gate:
    """A payment that waits until it is let through."""

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.inside = anyio.Event()

    @tool_spec(effect="write", identity=("order",))
    async def pay(self, order: str) -> dict[str, str]:
        self.entered.append(order)
        self.inside.set()
        await anyio.sleep_forever()
        return {"payment_id": f"P-{order}"}

    @tool_spec(effect="write", identity=("order",))
    async def quick(self, order: str) -> dict[str, str]:
        self.entered.append(order)
        await anyio.lowlevel.checkpoint()
        return {"payment_id": f"P-{order}"}

    @tool_spec(effect="read")
    def look(self, order: str) -> str:
        return order


def test_an_async_tool_is_awaited_and_settled() -> None:
    gate = Gate()
    breaker = Breaker()
    with breaker.run() as run:
        (quick,) = run.guard([gate.quick])

        async def work() -> list[Any]:
            return [
                await quick("A"),
                await quick(order="A"),
                await run.acall("quick", {"order": "A"}),
            ]

        first, second, third = asyncio.run(work())

    assert first == {"payment_id": "P-A"}
    assert second["reason"] == third["reason"] == "duplicate_write"
    assert gate.entered == ["A"]
    (entry,) = breaker.store.of_run(run.run_id)
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, "P-A")


def test_a_sync_tool_can_be_called_by_async_code() -> None:
    run = Breaker().run()
    run.guard([Gate().look])

    assert asyncio.run(run.acall("look", {"order": "A"})) == "A"
    assert asyncio.run(run.acall("look", {"no": "A"}))["reason"] == "invalid_arguments"


def test_an_async_tool_called_by_the_sync_road_gives_an_awaitable() -> None:
    gate = Gate()
    run = Breaker().run()
    run.guard([gate.quick])

    async def work() -> Any:
        return await run.call("quick", {"order": "A"})

    assert asyncio.run(work()) == {"payment_id": "P-A"}
    assert run.close() is None


def test_a_lambda_that_returns_a_coroutine_is_awaited_too() -> None:
    gate = Gate()
    run = Breaker(default_effect="write").run()
    pay = run.guard({"pay": lambda number: gate.quick(f"{number}")})["pay"]

    async def work() -> Any:
        return await pay(7)

    assert asyncio.run(work()) == {"payment_id": "P-7"}
    assert run.close() is None


def test_an_own_exception_of_an_async_tool_passes_through() -> None:
    error = LookupError("own")

    @tool_spec(effect="read")
    async def look() -> None:
        await asyncio.sleep(0)
        raise error

    (tool,) = Breaker().run().guard([look])

    with pytest.raises(LookupError) as told:
        asyncio.run(tool())

    assert told.value is error


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_write_is_unknown_and_holds(backend: str) -> None:
    gate = Gate()
    breaker = Breaker()
    run = breaker.run()
    (pay,) = run.guard([gate.pay])

    async def work() -> Any:
        async with anyio.create_task_group() as group:
            group.start_soon(pay, "A")
            await gate.inside.wait()
            group.cancel_scope.cancel()
        return run.decide(ToolCall(call_id="again", tool="pay", arguments={"order": "A"}))

    told = anyio.run(work, backend=backend)

    assert told.reason is Reason.UNKNOWN_SIDE_EFFECT
    assert gate.entered == ["A"]
    assert [each.status for each in breaker.store.of_run(run.run_id)] == [WriteStatus.UNKNOWN]
    assert run.mode is Mode.READ_ONLY


def test_a_cancellation_is_not_swallowed() -> None:
    gate = Gate()
    run = Breaker().run()
    (pay,) = run.guard([gate.pay])

    async def work() -> bool:
        task = asyncio.create_task(pay("A"))
        await gate.inside.wait()
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(work())


def test_a_cancelled_write_surfaces_when_the_run_ends() -> None:
    gate = Gate()

    async def work() -> None:
        with Breaker().run() as run:
            (pay,) = run.guard([gate.pay])
            await pay("A")

    async def cancelled() -> None:
        task = asyncio.create_task(work())
        await gate.inside.wait()
        task.cancel()
        await task

    with pytest.raises(Interrupted, match="unknown_side_effect") as told:
        asyncio.run(cancelled())

    assert isinstance(told.value.__cause__, asyncio.CancelledError)


def test_parallel_identical_async_writes_run_once() -> None:
    gate = Gate()
    run = Breaker().run()
    (quick,) = run.guard([gate.quick])

    async def work() -> list[Any]:
        return await asyncio.gather(*(quick("A") for _ in range(8)))

    told = asyncio.run(work())

    assert gate.entered == ["A"]
    assert sorted(each.get("reason", "") for each in told) == [""] + ["duplicate_write"] * 7


ORDERS = st.sampled_from(["A", "B", "C", "D", "E"])
FATES = st.sampled_from(["ok", "error", "definite"])
TASKS = st.lists(
    st.tuples(ORDERS, st.integers(0, 3), FATES, st.none() | st.integers(0, 6)), max_size=10
)


class NothingHappenedError(Exception):
    """Comes before any effect."""


async def cancel_by_plan(run: Any, tool: Any, tasks: list[Any], stops_at: int | None) -> None:
    running = [asyncio.create_task(tool(*arguments)) for *arguments, _ in tasks]
    for tick in range(8):
        if tick == stops_at:
            run.before_model()
        for task, (*_, cancelled_at) in zip(running, tasks, strict=True):
            if cancelled_at == tick:
                task.cancel()
        await asyncio.sleep(0)
        assert all(0 <= line.remaining <= line.limit for line in run.budgets())
    await asyncio.gather(*running, return_exceptions=True)


@settings(max_examples=80, deadline=None)
@given(TASKS, st.none() | st.integers(0, 6))
def test_cancelled_tasks_take_no_budget_out_of_its_limits(
    tasks: list[tuple[str, int, str, int | None]], stops_at: int | None
) -> None:
    """Each task is (order, ticks that the write takes, its fate, tick of its cancellation)."""
    dispatched: list[tuple[str, Mode]] = []
    changed: list[str] = []
    breaker = Breaker(budget=RunBudget(max_side_effects=3, max_tool_calls=6, max_turns=0))
    run = breaker.run()

    @tool_spec(effect="write", identity=("order",), definite_failures=(NothingHappenedError,))
    async def pay(order: str, ticks: int, fate: str) -> None:
        dispatched.append((order, run.mode))
        if fate == "definite":
            raise NothingHappenedError
        changed.append(order)
        for _ in range(ticks):
            await asyncio.sleep(0)
        if fate == "error":
            raise RuntimeError

    (guarded,) = run.guard([pay])
    asyncio.run(cancel_by_plan(run, guarded, tasks, stops_at))

    assert all(mode is Mode.OPEN for _, mode in dispatched)
    assert len(changed) <= 3
    assert len(dispatched) <= 6
    for line in run.budgets():
        assert 0 <= line.remaining <= line.limit
        assert line.spent == line.limit - line.remaining
    side_effects = {line.name: line.spent for line in run.budgets()}["max_side_effects"]
    assert side_effects == len(changed)
