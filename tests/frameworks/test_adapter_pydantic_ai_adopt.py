"""Agents of Pydantic AI that own their tools, taken over with all that can be reached from them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent, DeferredToolRequests, RunContext, Tool
from pydantic_ai import messages as parts
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from pytest_tripwire import Harness, Options, Role, Task
from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.pydantic_ai import adopt, definition
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.world import WORDING

NEEDS = ("pydantic-ai-slim",)


class Desk:
    """Answers each call with its own words, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any], str | None, str | None]] = []

    async def acall(
        self, name: str, arguments: Any, *, call_id: str | None = None, agent: str | None = None
    ) -> Any:
        self.asked.append((name, dict(arguments), call_id, agent))
        return {"from": "the desk"}

    def call(self, name: str, arguments: Any, **_: Any) -> Any:
        raise NotImplementedError


def model(*turns: Any, seen: list[Any] | None = None) -> FunctionModel:
    """A model that says, or calls, one thing after the other; calls are (tool, arguments)."""

    def answer(messages: list[Any], info: Any) -> parts.ModelResponse:
        if seen is not None:
            seen.append((messages, info))
        number = sum(isinstance(each, parts.ModelResponse) for each in messages)
        turn = turns[min(number, len(turns) - 1)]
        if isinstance(turn, str):
            return parts.ModelResponse(parts=[parts.TextPart(turn)])
        called = [
            parts.ToolCallPart(tool, given, tool_call_id=f"call-{number}-{place}")
            for place, (tool, given) in enumerate(turn)
        ]
        return parts.ModelResponse(parts=called)

    return FunctionModel(answer)


def never(**_: Any) -> None:
    raise AssertionError("the real body ran")


def find(order: str, limit: int = 3) -> str:
    """Find an order.

    Args:
        order: its number.
        limit: how many lines of it.
    """
    never(order=order, limit=limit)
    return ""


def refund(order: str) -> str:
    """Pay an order back."""
    never(order=order)
    return ""


def shown(agent: Any, desk_model: list[Any]) -> list[Any]:
    asyncio.run(agent.run("Hello", model=model("Bye", seen=desk_model)))
    return [
        (each.name, each.description, each.parameters_json_schema, each.strict)
        for each in desk_model[0][1].function_tools
    ]


def test_a_taken_over_agent_shows_the_same_tools_and_runs_other_bodies() -> None:
    desk, bare = Desk(), Agent(model([("find", {"order": "A-1"})], "Done."), name="shop")
    bare.tool_plain(find)
    taken = adopt(bare, Adoption(desk, ["find"]))

    before, after = shown(bare, []), shown(taken, [])
    answer = asyncio.run(taken.run("Find A-1")).output

    assert before == after
    assert desk.asked == [("find", {"order": "A-1", "limit": 3}, "call-0-0", "shop")]
    assert answer == "Done."


def test_what_is_taken_over_stays_as_it_was() -> None:
    bare = Agent(model([("find", {"order": "A-1"})], "Done."), tools=[find])
    taken = adopt(bare, Adoption(Desk(), ["find"]))
    asyncio.run(taken.run("Find A-1"))

    with pytest.raises(AssertionError, match="the real body ran"):
        asyncio.run(bare.run("Find A-1"))


def test_the_name_is_the_one_that_the_model_knows() -> None:
    desk = Desk()
    toolset = FunctionToolset([find, refund]).prefixed("shop").renamed({"pay": "shop_refund"})
    bare = Agent(model([("pay", {"order": "A-1"})], "Done."), toolsets=[toolset])

    taken = adopt(bare, Adoption(desk, ["shop_find", "pay"]))
    asyncio.run(taken.run("Pay A-1"))

    assert [each[0] for each in desk.asked] == ["pay"]


def test_toolsets_that_a_run_brings_along_have_other_bodies_too() -> None:
    desk, bare = Desk(), Agent(model([("find", {"order": "A-1"})], "Done."))
    taken = adopt(bare, Adoption(desk, ["find"]))

    asyncio.run(taken.run("Find A-1", toolsets=[FunctionToolset([find])]))

    assert [each[0] for each in desk.asked] == ["find"]


def test_a_tool_that_only_a_run_brings_to_light_does_not_run_unknown() -> None:
    bare = Agent(model([("refund", {"order": "A-1"})], "Done."))

    @bare.toolset
    def later(_: RunContext[Any]) -> Any:
        return FunctionToolset([refund])

    taken = adopt(bare, Adoption(Desk(), ["find"]))

    with pytest.raises(UnknownToolError, match="'refund'"):
        asyncio.run(taken.run("Pay A-1"))


def specialists() -> tuple[Agent[Any, str], dict[str, list[Any]]]:
    """One who asks two others, of whom one asks the first again."""
    seen: dict[str, list[Any]] = {"billing": [], "shipping": []}
    first = Agent(
        model([("ask_billing", {"what": "A-1"}), ("ask_shipping", {"what": "A-1"})], "Done."),
        name="first",
    )
    billing = Agent(
        model([("refund", {"order": "A-1"})], "Paid.", seen=seen["billing"]),
        name="billing",
        tools=[refund],
    )
    shipping = Agent(
        model([("find", {"order": "A-1"})], "Found.", seen=seen["shipping"]),
        name="shipping",
        tools=[find],
    )

    @first.tool_plain
    async def ask_billing(what: str) -> str:
        return (await billing.run(what)).output

    @first.tool
    def ask_shipping(_: RunContext[Any], what: str) -> str:
        with asyncio.Runner() as runner:
            return runner.run(shipping.run(what)).output

    @shipping.tool_plain
    async def ask_first(what: str) -> str:
        return (await first.run(what)).output

    return first, seen


def test_two_sub_agents_are_taken_over_with_the_one_that_runs_them() -> None:
    first, seen = specialists()
    desk = Desk()
    adoption = Adoption(desk, ["find", "refund"])

    taken = adopt(first, adoption)
    adoption.check()
    asyncio.run(taken.run("Where is A-1?"))

    assert sorted((name, agent) for name, _, _, agent in desk.asked) == [
        ("find", "shipping"),
        ("refund", "billing"),
    ]
    assert len(seen["billing"]) == len(seen["shipping"]) == 2


def test_unknown_tools_of_sub_agents_are_named_with_their_agent() -> None:
    first, _ = specialists()
    first.tool_plain(find)
    adoption = Adoption(Desk(), ["find"])

    adopt(first, adoption)

    with pytest.raises(UnknownToolError, match="'refund' of billing"):
        adoption.check()


def test_a_tool_that_only_mentions_an_agent_does_not_run() -> None:
    other = Agent(model("Hello."), name="other")

    def delete_everything() -> str:
        never()
        return str(other.name)

    adoption = Adoption(Desk(), [])
    adopt(Agent(model("Hello."), tools=[delete_everything]), adoption)

    with pytest.raises(UnknownToolError, match="'delete_everything'"):
        adoption.check()


def test_a_task_says_which_tool_plays_no_role() -> None:
    async def agent(task: Task) -> str:
        bare = Agent(task.model.pydantic_ai(), tools=[refund], name="support")
        return (await task.adopt(bare).run(task.prompt)).output

    with pytest.raises(HarnessError, match="'refund' of support"):
        Harness("empty-search", agent).run().check()


def test_a_single_tool_and_a_toolset_are_taken_over() -> None:
    desk = Desk()
    adoption = Adoption(desk, ["find", "refund"])
    tool = adopt(Tool(find), adoption)
    toolset = adopt(FunctionToolset([refund]), adoption)
    calls = [("find", {"order": "A-1"}), ("refund", {"order": "A-1"})]
    agent = Agent(model(calls, "Done."), tools=[tool], toolsets=[toolset])

    asyncio.run(agent.run("Both"))

    assert sorted(each[0] for each in desk.asked) == ["find", "refund"]
    assert definition(tool) == definition(Tool(find))


def test_a_call_that_needs_a_yes_still_needs_it() -> None:
    desk = Desk()
    toolset = FunctionToolset([refund]).approval_required()
    bare = Agent(
        model([("refund", {"order": "A-1"})], "Done."),
        toolsets=[toolset],
        output_type=[str, DeferredToolRequests],
    )

    result = asyncio.run(adopt(bare, Adoption(desk, ["refund"])).run("Pay A-1"))

    assert isinstance(result.output, DeferredToolRequests)
    assert desk.asked == []


def test_a_definition_is_what_the_model_is_shown() -> None:
    found = definition(Tool(find))

    assert found["name"] == "find"
    assert found["description"] == "Find an order."
    assert found["parameters"]["required"] == ["order"]
    assert found["parameters"]["properties"]["limit"]["default"] == 3


def test_a_tool_of_the_framework_plays_a_role() -> None:
    searched: list[str] = []

    async def look_up(query: str) -> str:
        """Look something up in the help centre."""
        never(query=query)
        return ""

    tool = Tool(look_up)

    async def agent(task: Task) -> str:
        bare = Agent(task.model.pydantic_ai(), tools=[tool, *task.tools.pydantic_ai()[1:]])
        searched.extend(task.tools)
        return (await task.adopt(bare).run(task.prompt)).output

    options = Options(roles={"search": Role(tool, {"query": WORDING})})
    run = Harness("empty-search", agent, options=options).run()

    run.check()
    assert "look_up" in searched
