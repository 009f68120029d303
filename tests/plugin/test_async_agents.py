"""Async agents and async tests, under each async plugin and under none."""

from __future__ import annotations

from typing import Any

import pytest

ARUN = """
import pytest

{marker}
async def test_agent(tripwire):
    run = await tripwire.arun()
    run.check()
    assert run.answer == "paid"
"""

AGENTS = pytest.mark.parametrize("agent", ["twice", "twice_async"], ids=["sync", "async"])


@AGENTS
def test_run_takes_sync_and_async_agents(project: Any, agent: str) -> None:
    project.plug_in(agent)
    project.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            run.check()
            assert run.answer == "paid"
        """)

    project.run().assert_outcomes(passed=1)


@AGENTS
def test_arun_under_pytest_asyncio(project: Any, agent: str) -> None:
    pytest.importorskip("pytest_asyncio")
    project.ini("asyncio_default_fixture_loop_scope = function")  # unset, it warns
    project.plug_in(agent)
    project.tests(ARUN.format(marker="@pytest.mark.asyncio"))

    project.run("-p", "asyncio").assert_outcomes(passed=1)


@AGENTS
def test_arun_under_anyio_on_asyncio_and_trio(project: Any, agent: str, rows: Any) -> None:
    pytest.importorskip("anyio")
    pytest.importorskip("trio")
    project.plug_in(agent)
    project.tests(ARUN.format(marker="@pytest.mark.anyio"))

    result = project.run("-v", "-p", "anyio")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        ["*[[]asyncio-lost-write[]] PASSED*", "*[[]trio-lost-write[]] PASSED*"]
    )
    assert rows(result) == [("agent", "lost-write", "contained")]


@AGENTS
def test_arun_under_no_plugin(project: Any, agent: str) -> None:
    project.plug_in(agent)
    project.tests("""
        import asyncio

        def test_agent(tripwire):
            asyncio.run(tripwire.arun()).check()
        """)

    project.run().assert_outcomes(passed=1)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_run_inside_a_running_loop_names_arun(project: Any, backend: str) -> None:
    pytest.importorskip("anyio")
    pytest.importorskip("trio")
    project.plug_in("twice_async")
    project.tests("""
        import pytest

        @pytest.mark.anyio
        async def test_agent(tripwire):
            tripwire.run()
        """)

    result = project.run("-p", "anyio", "-k", backend)

    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(
        [
            (
                "*HarnessError: run() was called inside a running event loop, where it "
                "cannot start one "
                "for the agent. Write `run = await tripwire.arun()` in async tests."
            )
        ]
    )


BOUND = """
    import asyncio
    import pytest

    async def locked():
        lock = asyncio.Lock()
        async with lock:
            waiter = asyncio.ensure_future(lock.acquire())
            await asyncio.sleep(0)
            waiter.cancel()
        await asyncio.wait([waiter])
        return lock

    async def pending():
        return asyncio.get_running_loop().create_future()

    @pytest.fixture
    def tripwire_agent():
        loop = asyncio.new_event_loop()
        lock, future = loop.run_until_complete(locked()), loop.run_until_complete(pending())

        async def lock_agent(task):
            async with lock:
                await lock.acquire()

        async def future_agent(task):
            await future

        async def closed_agent(task):
            loop.call_soon(print)

        yield {agent}
        loop.close()
"""


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        ("lock_agent", "*is bound to a different event loop"),
        ("future_agent", "*attached to a different loop"),
        ("(loop.close(), closed_agent)[1]", "Event loop is closed"),
    ],
    ids=["lock", "future", "closed"],
)
def test_an_agent_bound_to_the_loop_of_a_fixture_is_told_so(
    project: Any, agent: str, said: str
) -> None:
    project.write("conftest", BOUND.format(agent=agent))
    project.tests()

    result = project.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            (
                f"*HarnessError: the agent is bound to another event loop ({said}): it was "
                "built in a "
                "fixture, while run() starts a loop of its own. Build it inside the agent "
                "function, or use "
                "an async test with `run = await tripwire.arun()`."
            )
        ]
    )
