"""The adapter of Anthropic's client in the cases, and agents of it that are taken over."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from anthropic.lib import tools as native_tools

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Harness, Options, Role, Task
from pytest_tripwire.adapters.anthropic import (
    adopt,
    definition,
)
from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.breaker import Interrupted
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import (
    Dispatch,
    Effect,
    ModeChange,
)

from .anthropic_shop import (
    SPECS,
    Shop,
    guarded_loop,
    guarded_runner,
    guarded_stream,
    options_of,
)

NEEDS = ["anthropic"]

# -- what the adapter rests on


@pytest.mark.parametrize(
    "name",
    [
        "BetaFunctionTool",
        "BetaAsyncFunctionTool",
        "BetaBuiltinFunctionTool",
        "BetaAsyncBuiltinFunctionTool",
        "BetaRunnableToolset",
        "BetaAsyncRunnableToolset",
    ],
)
def test_the_client_still_exports(name: str) -> None:
    assert hasattr(native_tools, name), f"anthropic.lib.tools.{name} is gone: see copies.py"


@pytest.mark.parametrize("name", ["call", "func", "name", "to_dict", "description"])
@pytest.mark.parametrize("make", [beta_tool, beta_async_tool])
def test_a_tool_still_has(make: Any, name: str) -> None:
    async def later(a: int) -> str:
        return "a"

    def now(a: int) -> str:
        return "a"

    tool = make(later if make is beta_async_tool else now)
    assert hasattr(tool, name), f"a tool's .{name} is gone: see copies.py"


@pytest.mark.parametrize("name", ["__next__", "close", "generate_tool_call_response"])
def test_a_runner_still_has(name: str) -> None:
    kinds = (native_tools.BetaToolRunner, native_tools.BetaStreamingToolRunner)
    for kind in kinds:
        assert hasattr(kind, name), f"{kind.__name__}.{name} is gone: see following.py"
    for kind in (native_tools.BetaAsyncToolRunner, native_tools.BetaAsyncStreamingToolRunner):
        wanted = "__anext__" if name == "__next__" else name
        assert hasattr(kind, wanted), f"{kind.__name__}.{wanted} is gone: see following.py"


def test_the_runner_still_calls_a_tool_by_its_attribute_with_the_message_s_own_input() -> None:
    source = inspect.getsource(inspect.getmodule(native_tools.BetaToolRunner))
    assert "tool.call(tool_use.input)" in source, "see turn.py: calls are found by their input"


@pytest.mark.parametrize("name", ["_closed", "_max_iterations", "_params", "_pending_compaction"])
def test_a_runner_still_keeps_what_tells_whether_it_asks_again(name: str) -> None:
    with Anthropic(api_key="any") as client:
        runner = client.beta.messages.tool_runner(model="m", max_tokens=9, tools=[], messages=[])
    assert hasattr(runner, name), f"a runner's {name} is gone: see following.py"


def test_a_stream_still_shows_what_has_arrived() -> None:
    from anthropic.lib.streaming import BetaAsyncMessageStream, BetaMessageStream

    for kind in (BetaMessageStream, BetaAsyncMessageStream):
        for name in ("current_message_snapshot", "get_final_message"):
            assert hasattr(kind, name), f"{kind.__name__}.{name} is gone: see following.py"


# -- the standard cases

WAYS = ("plain", "stream", "eager", "async-plain", "async-stream", "async-eager")


def agent_of(way: str) -> Callable[[Task], Any]:
    def agent(task: Task) -> str:
        with Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client:
            runner = client.beta.messages.tool_runner(
                tools=task.tools.anthropic(), **options_of(task, way)
            )
            for item in runner:
                if way != "plain":
                    for _ in item:
                        pass
        return "Done."

    async def aagent(task: Task) -> str:
        url = task.model.base_url("anthropic")
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            runner = client.beta.messages.tool_runner(
                tools=task.tools.anthropic().asynchronous, **options_of(task, way)
            )
            async for item in runner:
                if way != "async-plain":
                    async for _ in item:
                        pass
        return "Done."

    return aagent if way.startswith("async") else agent


@pytest.mark.parametrize("case", CASE_IDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_runner_with_the_case_s_tools_is_contained(case: str, way: str) -> None:
    run = Harness(case, agent_of(way)).run()

    run.check()
    assert run.cell.state is State.CONTAINED
    assert not _dispatched_after_the_stop(run)


def _dispatched_after_the_stop(run: Any) -> list[Dispatch]:
    """Writes that began although the run had been stopped."""
    stopped = [each.seq for each in run.events if isinstance(each, ModeChange)]
    late = [each for each in run.events if isinstance(each, Dispatch) and stopped]
    return [each for each in late if each.seq > stopped[0] and each.effect is not Effect.READ]


@pytest.mark.parametrize("agent", [guarded_runner, guarded_stream, guarded_loop])
@pytest.mark.parametrize("case", [each for each in CASE_IDS if each != "stale-resume"])
def test_the_adapter_alone_leaves_the_case_contained(
    case: str, agent: Callable[[Task], Any]
) -> None:
    options = Options(protection="own", stops=(Interrupted,))

    run = Harness(case, agent, options=options).run()

    assert run.cell.state is State.CONTAINED, run.cell.broken


# -- taking an agent over


class Recorded:
    """Calls that adopted tools have made."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def call(self, name: str, arguments: Any, *, call_id: Any = None, agent: Any = None) -> Any:
        self.calls.append((name, arguments))
        return {"ok": True}

    async def acall(
        self, name: str, arguments: Any, *, call_id: Any = None, agent: Any = None
    ) -> Any:
        return self.call(name, arguments)


def test_adopted_tools_look_the_same_and_call_somebody_else() -> None:
    from pytest_tripwire.adapters import Adoption

    shop, caller = Shop(), Recorded()
    adoption = Adoption(caller, SPECS)
    own = [*shop.tools(), *shop.async_tools()]
    adopted = adopt(own, adoption)
    adoption.check()

    assert adopted[1].call({"order_id": "A-1"}) == '{"ok": true}'
    assert asyncio.run(adopted[4].call({"order_id": "A-2"})) == '{"ok": true}'
    assert caller.calls == [
        ("refund_order", {"order_id": "A-1"}),
        ("refund_order", {"order_id": "A-2"}),
    ]
    assert shop.refunds == []
    assert [each.to_dict() for each in adopted] == [each.to_dict() for each in own]


def test_a_task_names_every_tool_of_two_agents_that_plays_no_role() -> None:
    def archive(order: str) -> str:
        return "archived"

    def shred(order: str) -> str:
        return "shredded"

    billing, shipping = [beta_tool(archive)], [beta_tool(shred)]

    def agent(task: Task) -> str:
        task.adopt([*billing, *shipping])
        return "Done."

    with pytest.raises(HarnessError, match=r"'archive' of .*'shred' of "):
        Harness("empty-search", agent).run()


@beta_tool
def give_back(order: str, euros: float, why: str, slip: str) -> str:
    """Give a customer money back.

    Args:
        order: the order's number.
    """
    raise AssertionError("the team's own body is never run")


@beta_async_tool
async def give_back_later(order: str, euros: float, why: str, slip: str) -> str:
    """Give a customer money back."""
    raise AssertionError("the team's own body is never run")


@pytest.mark.parametrize("tool", [give_back, give_back_later], ids=["sync", "async"])
def test_an_agent_with_tools_of_its_own_is_taken_over_whole(tool: Any) -> None:
    shown: list[Any] = []

    def runner_of(task: Task, client: Any) -> Any:
        adopted = task.adopt([tool])
        shown.append(adopted[0].to_dict())
        return client.beta.messages.tool_runner(tools=adopted, **options_of(task, "plain"))

    def agent(task: Task) -> Any:
        with Anthropic(base_url=task.model.base_url("anthropic"), api_key="any") as client:
            return runner_of(task, client).until_done().stop_reason

    async def aagent(task: Task) -> Any:
        url = task.model.base_url("anthropic")
        async with AsyncAnthropic(base_url=url, api_key="any") as client:
            return (await runner_of(task, client).until_done()).stop_reason

    means = {"order": RESOURCE, "euros": AMOUNT, "why": WORDING, "slip": NONCE}
    options = Options(roles={"write": Role(tool, means)})
    run = Harness("lost-write", agent if tool is give_back else aagent, options=options).run()

    run.check()
    assert run.reason == "unknown_side_effect"
    assert shown == [tool.to_dict()]
    assert [each.tool for each in run.events if isinstance(each, Dispatch)] == [tool.name]


def test_a_definition_says_what_the_model_is_shown() -> None:
    (look, *_) = Shop().tools()

    assert definition(look) == {
        "name": "search_orders",
        "description": "Look for orders.",
        "parameters": look.input_schema,
    }
    assert definition(look.to_dict()) == definition(look)


@pytest.mark.parametrize("result", [42, True, 1.5, None])
def test_a_result_that_is_no_text_is_one_all_the_same(result: Any) -> None:
    kept = Kept()

    assert kept.seen(result) is result
    assert json.loads(kept.shown(result)) == result
