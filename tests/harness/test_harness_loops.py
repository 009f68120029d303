"""Async agents, and harnesses inside a running loop, under asyncio and trio."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, HarnessError, Options, Protection, Task
from pytest_tripwire.world import AMOUNT, RESOURCE, Role

LOST = "lost-write"
Runner = Callable[[Callable[[], Any]], Any]


@pytest.fixture(params=["asyncio", "trio"])
def in_loop(request: pytest.FixtureRequest) -> Runner:
    """Runs an async function in a loop of its own."""
    if request.param == "trio":
        return pytest.importorskip("trio").run  # type: ignore[no-any-return]
    return lambda function: asyncio.run(function())


@pytest.mark.parametrize("agent", ["twice", "twice_async", "loop"])
def test_arun(agents: Any, in_loop: Runner, agent: str) -> None:
    run = in_loop(Harness(LOST, getattr(agents, agent)).arun)

    assert run.cell.state == "contained"


def test_async_calls_without_a_breaker(agents: Any) -> None:
    options = Options(protection=Protection.OWN)

    assert Harness(LOST, agents.twice_async, options=options).run().cell.state == "escaped"


def test_run_starts_a_loop_for_an_async_agent(agents: Any) -> None:
    assert Harness(LOST, agents.twice_async).run().answer == "paid"


@pytest.mark.parametrize("where", ["run", "arun"])
def test_an_agent_need_not_be_an_async_function_to_be_awaited(agents: Any, where: str) -> None:
    class Awaited:
        async def __call__(self, task: Task) -> str:
            return str(await agents.twice_async(task))

    def gives_awaitable(task: Task) -> Any:
        return agents.twice_async(task)

    for agent in (Awaited(), gives_awaitable, functools.partial(agents.twice_async)):
        harness = Harness(LOST, agent)
        run = harness.run() if where == "run" else asyncio.run(harness.arun())
        assert (run.answer, run.cell.state) == ("paid", "contained")


def test_run_inside_a_loop_is_refused(agents: Any, in_loop: Runner) -> None:
    harness = Harness(LOST, agents.twice)

    async def inside() -> None:
        harness.run()

    with pytest.raises(HarnessError, match=r"Write `run = await tripwire.arun\(\)` in async"):
        in_loop(inside)


def test_run_in_a_thread_beside_a_loop_is_fine(agents: Any) -> None:
    async def beside() -> Any:
        return await asyncio.to_thread(Harness(LOST, agents.twice_async).run)

    assert asyncio.run(beside()).cell.state == "contained"


def test_an_agent_that_hangs_is_cut_off_inside_a_loop_too(
    agents: Any, in_loop: Runner, request: pytest.FixtureRequest
) -> None:
    backend = request.node.callspec.params["in_loop"]

    async def agent(task: Task) -> None:
        await agents.twice_async(task)
        if backend == "trio":
            import trio

            await trio.sleep_forever()
        await asyncio.Event().wait()

    run = in_loop(Harness(LOST, agent, options=Options(max_seconds=0.2)).arun)

    assert [each.check for each in run.cell.broken] == ["ended in bounds"]
    assert run.cell.state == "escaped"


def test_several_at_once_in_one_loop(agents: Any) -> None:
    async def all_of_them() -> Any:
        return await asyncio.gather(*(Harness(LOST, agents.twice_async).arun() for _ in range(8)))

    runs = asyncio.run(all_of_them())

    assert {run.cell.state for run in runs} == {"contained"}
    assert len({run.timeline() for run in runs}) == 1


def test_parallel_calls_of_an_async_agent() -> None:
    async def agent(task: Task) -> Any:
        calls = (
            task.tools.acall(
                "issue_refund",
                {"order_id": "A-1001", "amount": 40, "reason": "", "request_id": str(n)},
            )
            for n in range(5)
        )
        return await asyncio.gather(*calls, return_exceptions=True)

    run = Harness(LOST, agent).run()

    assert run.cell.state == "contained"
    assert run.timeline().count("MUTATION") == 1


async def refund_soon(order: str, cents: float) -> dict[str, Any]:
    """Pay a customer back, soon."""
    raise AssertionError(order, cents)


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_async_tools_of_a_team_are_awaited(protection: str) -> None:
    async def agent(task: Task) -> list[Any]:
        results = []
        for _ in range(2):
            try:
                results.append(await task.tools["refund_soon"]("A-1001", 40))
            except TimeoutError:
                results.append("lost")
        return results

    role = Role(refund_soon, {"order": RESOURCE, "cents": AMOUNT})
    options = Options(roles={"write": role}, protection=protection)  # type: ignore[arg-type]
    run = Harness(LOST, agent, options=options).run()

    lost, second = run.answer
    assert lost == "lost"
    assert ("refused" in second) is (protection == "harness")


async def build_lock() -> asyncio.Lock:
    lock = asyncio.Lock()
    await lock.acquire()
    waiter = asyncio.ensure_future(lock.acquire())
    # One turn of the loop, so that the lock is bound to it.
    await asyncio.wait([waiter], timeout=0)
    waiter.cancel()
    return lock


def test_an_agent_that_is_bound_to_another_loop_is_told_so() -> None:
    lock = asyncio.run(build_lock())

    async def agent(_: Task) -> None:
        await lock.acquire()

    with pytest.raises(HarnessError, match=r"bound to another event loop .* Build it inside"):
        Harness(LOST, agent).run()


def test_a_runtime_error_of_another_kind_is_the_agents_own() -> None:
    def agent(_: Task) -> None:
        raise RuntimeError("no more paper")

    assert Harness(LOST, agent).run().cell.ending == "crashed (RuntimeError)"


def test_a_deadline_of_an_async_agents_own_ends_a_tool_that_nobody_guards() -> None:
    ended = []

    async def agent(task: Task) -> str:
        given = {"order_id": "A-1001", "amount": 40, "reason": "-", "request_id": "1"}
        try:
            await task.clock.within(5.0, task.tools.acall("issue_refund", given))
        except TimeoutError:
            ended.append(task.clock.now())
        return "done"

    options = Options(protection=Protection.OWN, max_seconds=5.0)
    run = Harness("deadline", agent, options=options).run()

    assert run.error is None
    assert ended == [5.0]
