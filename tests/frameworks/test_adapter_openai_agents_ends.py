"""How guarded agents of the OpenAI Agents SDK end: what raises, what is swallowed, what still runs,
what is taken up twice.
"""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest
from agents import Agent, AgentHooks, RunConfig, Runner, RunState, Usage, function_tool
from agents.testing import assistant_message

from pytest_tripwire.adapters.openai_agents import StoppedError, guarded
from pytest_tripwire.breaker import Breaker, Interrupted, RunBudget, tool_spec

from .openai_agents_kit import WAYS, go, reason, script, told

NEEDS = ("openai-agents",)

FAILED = "An error occurred while running the tool. Please try again."


def payer(paid: list[str], error: type[Exception] | None = None, **options: Any) -> Any:
    @function_tool(**options)
    @tool_spec(effect="write", identity=("order",))
    def pay(order: str) -> str:
        """Pay."""
        paid.append(order)
        if error is not None:
            raise error("lost")
        return "paid"

    return pay


def pays(number: int = 1) -> list[tuple[str, Any]]:
    return [("pay", {"order": f"A-{number}"})]


def clerk(tools: list[Any], *turns: Any, **options: Any) -> Any:
    return Agent[None](name="clerk", tools=tools, model=script(*turns), **options)


def at_once(agent: Any) -> Any:
    """Run an agent where nothing is awaited."""
    with asyncio.Runner() as runner:
        # The SDK would make a loop of its own, and leave it open.
        asyncio.set_event_loop(runner.get_loop())
        try:
            return Runner.run_sync(agent, "Pay.", run_config=RunConfig(tracing_disabled=True))
        finally:
            asyncio.set_event_loop(None)


def test_an_agent_that_is_run_without_a_loop_is_guarded_too() -> None:
    paid: list[str] = []
    agent = clerk([payer(paid, TimeoutError)], pays(), pays())

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        result = at_once(guarded(agent, run))

    assert caught.value.reason == "unknown_side_effect"
    assert paid == ["A-1"]
    assert told(result)[0] == FAILED
    assert reason(told(result)[1]) == "unknown_side_effect"


class Raises(AgentHooks[Any]):
    """Raises at one of the moments that hooks are told of."""

    def __init__(self, when: str) -> None:
        async def broken(*_: Any, **_named: Any) -> None:
            raise LookupError(f"a hook at {when}")

        setattr(self, when, broken)


@WAYS
@pytest.mark.parametrize("when", ["on_start", "on_llm_start", "on_llm_end", "on_tool_start"])
def test_a_hook_that_raises_before_a_tool_leaves_nothing_unknown(when: str, way: str) -> None:
    paid: list[str] = []
    run = Breaker().run()
    agent = guarded(clerk([payer(paid)], pays(), hooks=Raises(when)), run)

    with pytest.raises(Exception, match=f"a hook at {when}"):
        asyncio.run(go(agent, way=way))

    assert paid == []
    assert run.close() is None


@WAYS
def test_a_hook_that_raises_after_a_tool_changes_nothing_of_what_was_done(way: str) -> None:
    paid: list[str] = []
    agent = clerk([payer(paid)], pays(), hooks=Raises("on_tool_end"))

    with Breaker().run() as run:
        with pytest.raises(Exception, match="a hook at on_tool_end"):
            asyncio.run(go(guarded(agent, run), way=way))
        again = asyncio.run(go(guarded(clerk([payer(paid)], pays()), run), way=way))

    assert paid == ["A-1"]
    assert [reason(each) for each in told(again)] == ["duplicate_write"]


@WAYS
def test_a_request_is_paid_for_before_a_hook_can_raise(way: str) -> None:
    run = Breaker(budget=RunBudget(max_tokens=100)).run()
    agent = clerk([payer([])], pays(), hooks=Raises("on_llm_end"))
    agent.model.set_default_usage(Usage(requests=1, input_tokens=30, total_tokens=30))

    with pytest.raises(Exception, match="a hook"):
        asyncio.run(go(guarded(agent, run), way=way))

    (line,) = run.budgets()
    assert line.spent == Decimal(30)


@WAYS
def test_a_team_that_swallows_the_stop_gets_no_further(way: str) -> None:
    paid: list[str] = []
    model = script(pays(1), pays(2), pays(3))
    bare = Agent[None](name="clerk", tools=[payer(paid)], model=model)

    async def stubborn(agent: Any) -> list[str]:
        ends = []
        for _ in range(3):
            try:
                await go(agent, way=way)
            except StoppedError as stop:
                ends.append(type(stop).__name__)
        return ends

    with pytest.raises(Interrupted) as caught, Breaker(budget=RunBudget(max_turns=1)).run() as run:
        ends = asyncio.run(stubborn(guarded(bare, run)))

    assert caught.value.reason == "turn_budget"
    assert ends == ["StoppedError"] * 3
    assert len(model.calls) == 1
    assert paid == ["A-1"]


@WAYS
def test_an_async_sibling_that_still_runs_at_the_stop_comes_to_its_end(way: str) -> None:
    done: list[str] = []
    begun, stopped = asyncio.Event(), asyncio.Event()

    @function_tool
    @tool_spec(effect="write", identity=("order",))
    async def slow(order: str) -> str:
        """Take time."""
        begun.set()
        await stopped.wait()
        done.append(order)
        return "done"

    @function_tool
    @tool_spec(effect="read")
    async def stop() -> str:
        """Stop the run."""
        await begun.wait()
        run.interrupt("enough")
        stopped.set()
        return "stopped"

    def both(number: int) -> list[tuple[str, Any]]:
        return [("slow", {"order": f"A-{number}"}), ("stop", {})]

    agent = clerk([slow, stop], both(1), both(2))

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        asyncio.run(go(guarded(agent, run), way=way))

    assert done == ["A-1"]
    assert [each.status for each in caught.value.record.writes] == ["confirmed"]
    assert isinstance(caught.value.__cause__, StoppedError)


def test_a_stream_that_somebody_leaves_in_the_middle_of_a_write_leaves_it_unknown() -> None:
    paid: list[str] = []
    entered = asyncio.Event()

    @function_tool
    @tool_spec(effect="write", identity=("order",))
    async def pay(order: str) -> str:
        """Pay, and never hear of it."""
        paid.append(order)
        entered.set()
        await asyncio.Event().wait()
        return order

    async def left(agent: Any) -> None:
        stream = Runner.run_streamed(agent, "Pay.", run_config=RunConfig(tracing_disabled=True))
        await entered.wait()
        stream.cancel()
        async for _ in stream.stream_events():
            pass

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        asyncio.run(left(guarded(clerk([pay], pays()), run)))

    assert caught.value.reason == "unknown_side_effect"
    assert paid == ["A-1"]


def test_a_tool_that_times_out_may_have_written() -> None:
    paid: list[str] = []

    @function_tool(timeout=0.01)
    @tool_spec(effect="write", identity=("order",))
    async def pay(order: str) -> str:
        """Pay, and never hear of it."""
        paid.append(order)
        await asyncio.Event().wait()
        return order

    with pytest.raises(Interrupted) as caught, Breaker().run() as run:
        result = asyncio.run(go(guarded(clerk([pay], pays(), pays()), run)))

    assert caught.value.reason == "unknown_side_effect"
    assert paid == ["A-1"]
    assert "timed out" in told(result)[0]
    assert reason(told(result)[1]) == "unknown_side_effect"


@WAYS
@pytest.mark.parametrize("stored", [True, False])
def test_one_state_that_is_taken_up_twice_writes_once(stored: bool, way: str) -> None:  # noqa: FBT001
    paid: list[str] = []
    breaker = Breaker()
    tool = payer(paid, needs_approval=True)

    async def twice(run: Any) -> list[Any]:
        agent = guarded(Agent[None](name="clerk", tools=[tool], model=model), run)
        waiting = await go(agent, way=way)
        results = []
        for _ in range(2):
            state = waiting.to_state()
            if stored:
                state = await RunState.from_string(agent, state.to_string())
            state.approve(state.get_interruptions()[0])
            results.append(await go(agent, state, way=way))
        return results

    model = script(pays())
    model.enqueue([assistant_message("Goodbye.")])

    with breaker.run() as run:
        results = asyncio.run(twice(run))

    assert paid == ["A-1"]
    assert [[reason(each) for each in told(one)] for one in results] == [
        [None],
        ["duplicate_write"],
    ]
