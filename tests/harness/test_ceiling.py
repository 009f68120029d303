"""A sync agent that spins on tools and asks no model is ended by its tools."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness
from pytest_tripwire.harness import Options, Protection
from pytest_tripwire.harness.ceiling import Ceiling, OverrunError, is_overrun

from ..cases.production_team import factory  # noqa: TID252 - no package to import from

REFUND = {"order_id": "A-1001", "amount": 40, "reason": "sent back", "request_id": "r-1"}
READ = {"order_id": "A-1001"}


def by_name(task: Any) -> None:
    while True:
        task.tools.call("get_refund", READ)


def by_callable(task: Any) -> None:
    while True:
        task.tools["get_refund"](**READ)


def swallowing(task: Any) -> None:
    while True:
        try:
            task.tools.call("issue_refund", REFUND)
        except Exception:  # noqa: BLE001, S112 - as agents do
            continue


async def by_name_async(task: Any) -> None:
    while True:
        await task.tools.acall("get_refund", READ)


async def in_a_group(task: Any) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(by_name_async(task))


@pytest.mark.parametrize("protection", Protection)
@pytest.mark.parametrize(
    "agent", [by_name, by_callable, swallowing, by_name_async, in_a_group], ids=lambda a: a.__name__
)
def test_a_spin_is_ended(agent: Callable[..., Any], protection: Protection) -> None:
    options = Options(protection=protection, breaker=factory(), max_seconds=0.2)
    began = time.monotonic()

    run = Harness("lost-write", agent, options=options).run()

    assert time.monotonic() - began < 10
    assert run.cell.state == "escaped"
    assert "ended in bounds" in [each.check for each in run.cell.broken]


def test_a_spin_beside_a_running_loop_is_ended() -> None:
    harness = Harness("lost-write", by_name, options=Options(max_seconds=0.2))

    run = asyncio.run(harness.arun())

    assert isinstance(run.error, OverrunError)
    assert "ended in bounds" in [each.check for each in run.cell.broken]


def test_what_ends_a_session_still_ends_it() -> None:
    def leaves(_task: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Harness("lost-write", leaves).run()


@pytest.mark.parametrize("protection", Protection)
def test_a_capped_tool_looks_like_the_bare_one(protection: Protection) -> None:
    seen: dict[str, Any] = {}
    Harness(
        "lost-write",
        lambda t: seen.update(t.tools),
        options=Options(protection=protection, breaker=factory()),
    ).run()

    tool = seen["issue_refund"]
    assert tool.__name__ == "issue_refund"
    assert list(inspect.signature(tool).parameters) == [
        "order_id",
        "amount",
        "reason",
        "request_id",
    ]
    assert inspect.getdoc(tool).startswith("Refund a customer")
    assert not hasattr(inspect.unwrap(tool), "__wrapped__")
    assert hasattr(inspect.unwrap(tool), "start")


def test_what_a_guard_of_the_agents_own_starts_a_tool_by_is_capped_too() -> None:
    def tool() -> str:
        return "called"

    tool.start = lambda: "started"  # type: ignore[attr-defined]
    ceiling = Ceiling(60.0)
    (capped,) = ceiling.over({"tool": tool}).values()
    assert (capped(), capped.start()) == ("called", "started")  # type: ignore[attr-defined]

    (capped,) = Ceiling(-1.0).over({"tool": tool}).values()
    with pytest.raises(OverrunError, match="end the agent's loop"):
        capped.start()  # type: ignore[attr-defined]


def test_a_coroutine_function_stays_one() -> None:
    async def tool() -> None:
        """Wait."""

    (capped,) = Ceiling(60.0).over({"tool": tool}).values()

    assert inspect.iscoroutinefunction(capped)
    assert inspect.unwrap(capped) is tool


def test_an_overrun_in_a_group_is_one() -> None:
    assert is_overrun(BaseExceptionGroup("several", [ValueError(), OverrunError()]))
    assert not is_overrun(ExceptionGroup("several", [ValueError()]))
