"""The adapter of the OpenAI Agents SDK: what it rests on, its tools in the cases, and agents
that are taken over.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import json
from collections.abc import Callable
from typing import Any

import agents
import pytest
from agents import (
    Agent,
    AgentHooks,
    FunctionTool,
    Handoff,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    Usage,
    WebSearchTool,
    function_tool,
    handoff,
)
from agents.exceptions import AgentsException
from agents.run_internal import run_loop
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from pydantic import BaseModel

from pytest_tripwire import (
    RESOURCE,
    WORDING,
    Harness,
    HarnessError,
    Options,
    Role,
    Task,
)
from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.openai_agents import adopt, definition
from pytest_tripwire.adapters.openai_agents.functions import agent_in
from pytest_tripwire.adapters.openai_agents.handing import target_of
from pytest_tripwire.breaker import tool_spec
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Dispatch
from pytest_tripwire.world import DETAIL, TARGET

NEEDS = ("openai-agents",)

QUIET: dict[str, Any] = {"max_turns": 60, "run_config": RunConfig(tracing_disabled=True)}
WAYS = ("run", "stream")


async def go(way: str, agent: Any, words: Any, **options: Any) -> Any:
    if way == "run":
        return await Runner.run(agent, words, **QUIET, **options)
    result = Runner.run_streamed(agent, words, **QUIET, **options)
    async for _ in result.stream_events():
        pass
    return result


# -- what the adapter rests on


def parameters(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


def fields(kind: Any) -> set[str]:
    return {each.name for each in dataclasses.fields(kind)}


@function_tool
def look() -> str:
    """Look."""
    return "nothing"


PARTS: dict[str, Callable[[], bool]] = {
    "FunctionTool(name, description, params_json_schema, on_invoke_tool, ...)": lambda: (
        fields(FunctionTool)
        >= {
            "name",
            "description",
            "params_json_schema",
            "on_invoke_tool",
            "strict_json_schema",
            "needs_approval",
        }
    ),
    "FunctionTool._failure_error_function, ._use_default_failure_error_function": lambda: (
        fields(FunctionTool) >= {"_failure_error_function", "_use_default_failure_error_function"}
    ),
    "FunctionTool._is_agent_tool, ._agent_instance": lambda: (
        fields(FunctionTool) >= {"_is_agent_tool", "_agent_instance"}
    ),
    "FunctionTool.__wrapped__": lambda: callable(look.__wrapped__),
    "the invoker's __agents_bind_function_tool__": lambda: hasattr(
        look.on_invoke_tool, "__agents_bind_function_tool__"
    ),
    "the invoker's prepare_arguments": lambda: hasattr(look.on_invoke_tool, "prepare_arguments"),
    "the owner of what prepare_arguments gives": lambda: (
        look.on_invoke_tool.prepare_arguments("{}", "look").owner("{}", "look").args == []
    ),
    "as_tool()'s _invoke_tool_impl, closed over self": lambda: (
        "self"
        in vars(Agent[None](name="a").as_tool("a", "a").on_invoke_tool)[
            "_invoke_tool_impl"
        ].__code__.co_freevars
    ),
    "agents.tool.with_function_tool_failure_error_handler": lambda: hasattr(
        agents.tool, "with_function_tool_failure_error_handler"
    ),
    "ToolContext(tool_name, tool_call_id, tool_arguments, agent)": lambda: (
        fields(ToolContext) >= {"tool_name", "tool_call_id", "tool_arguments", "agent"}
    ),
    "ToolContext._function_tool_arguments": lambda: (
        "_function_tool_arguments" in inspect.getsource(ToolContext)
    ),
    "RunContextWrapper.is_tool_approved(tool_name, call_id)": lambda: (
        parameters(RunContextWrapper.is_tool_approved) == ["tool_name", "call_id"]
    ),
    "RunContextWrapper._approvals": lambda: "_approvals" in fields(RunContextWrapper),
    "the approval record's approved, sticky_scope": lambda: (
        fields(vars(agents.run_context)["_ApprovalRecord"]) >= {"approved", "sticky_scope"}
    ),
    "Handoff(tool_name, tool_description, input_json_schema, on_invoke_handoff)": lambda: (
        fields(Handoff)
        >= {"tool_name", "tool_description", "input_json_schema", "on_invoke_handoff"}
    ),
    "Handoff._agent_ref": lambda: "_agent_ref" in fields(Handoff),
    "Handoff.get_transfer_message(agent)": lambda: (
        parameters(Handoff.get_transfer_message) == ["agent"]
    ),
    "Agent(tools, handoffs, hooks, mcp_servers)": lambda: (
        fields(Agent) >= {"tools", "handoffs", "hooks", "mcp_servers", "model", "prompt"}
    ),
    "Agent.get_all_tools(), .get_mcp_tools()": lambda: (
        callable(Agent.get_all_tools) and callable(Agent.get_mcp_tools)
    ),
    "RunConfig(model, model_provider)": lambda: fields(RunConfig) >= {"model", "model_provider"},
    "Model._cleanup_on_run_end()": lambda: hasattr(agents.Model, "_cleanup_on_run_end"),
    "the runner's own model, where it calls on_llm_start": lambda: all(
        source.index("model = get_model(") < source.index("public_agent.hooks.on_llm_start(")
        for source in map(
            inspect.getsource, (run_loop.get_new_response, run_loop.run_single_turn_streamed)
        )
    ),
    "Agent.clone()": lambda: callable(Agent.clone),
    "AgentHooks.on_llm_start(context, agent, system_prompt, input_items)": lambda: (
        parameters(AgentHooks.on_llm_start) == ["context", "agent", "system_prompt", "input_items"]
    ),
    "AgentHooks.on_llm_end(context, agent, response)": lambda: (
        parameters(AgentHooks.on_llm_end) == ["context", "agent", "response"]
    ),
    "AgentHooks.on_start, .on_end, .on_handoff, .on_tool_start, .on_tool_end": lambda: all(
        hasattr(AgentHooks, f"on_{name}")
        for name in ("start", "end", "handoff", "tool_start", "tool_end")
    ),
    "RunHooks.on_handoff(context, from_agent, to_agent)": lambda: (
        parameters(RunHooks.on_handoff) == ["context", "from_agent", "to_agent"]
    ),
    "Usage(total_tokens, input_tokens, output_tokens, input_tokens_details)": lambda: (
        fields(Usage) >= {"total_tokens", "input_tokens", "output_tokens", "input_tokens_details"}
    ),
    "AgentsException.run_data": lambda: hasattr(AgentsException(), "run_data"),
}


@pytest.mark.parametrize("part", PARTS)
def test_the_sdk_has_what_the_adapter_rests_on(part: str) -> None:
    assert PARTS[part](), (
        f"this release of the OpenAI Agents SDK has no {part}: the adapter rests on it"
    )


# -- the cases, with the SDK's own tools


def support(way: str) -> Callable[[Task], Any]:
    def one(task: Task) -> Any:
        return Agent[None](
            name="support",
            instructions="Help.",
            tools=task.tools.openai_agents(),
            model=task.model.openai_agents(),
        )

    def at_once(task: Task) -> Any:
        with asyncio.Runner() as runner:
            # The SDK would make a loop of its own, and leave it open.
            asyncio.set_event_loop(runner.get_loop())
            return Runner.run_sync(one(task), task.prompt, **QUIET).final_output

    async def agent(task: Task) -> Any:
        return (await go(way, one(task), task.prompt)).final_output

    return at_once if way == "sync" else agent


@pytest.mark.parametrize("case", CASE_IDS)
@pytest.mark.parametrize("way", [*WAYS, "sync"])
def test_every_case_is_contained_with_tools_of_the_sdk(way: str, case: str) -> None:
    run = Harness(case, support(way)).run()

    run.check()
    assert run.cell.state is State.CONTAINED


def test_arguments_that_are_no_json_are_told_as_the_sdk_tells_them() -> None:
    told: list[str] = []

    async def agent(task: Task) -> str:
        tool = task.tools.openai_agents()[0]
        for raw in ("{", "[]"):
            context = ToolContext(None, tool_name=tool.name, tool_call_id="c-1", tool_arguments=raw)
            told.append(await tool.on_invoke_tool(context, raw))
        return "done"

    Harness("lost-write", agent).run()

    assert told == ["An error occurred while running the tool. Please try again."] * 2


# -- agents that are taken over


class HandOver(BaseModel):
    """What goes along with a hand-off."""

    to: str
    order_id: str
    note: str
    findings: str = ""


@tool_spec(effect="write", identity=("order_id",), wording=("note",))
def give_back(order_id: str, cents: int, note: str, request_id: str) -> dict[str, Any]:
    """Give money back."""
    raise AssertionError(order_id, cents, note, request_id)


REFUND = function_tool(give_back, name_override="issue_refund")


def on_handoff(_context: Any, given: HandOver) -> None:
    raise AssertionError(given)


def team(model: Any = None, **handoffs: Any) -> tuple[Any, Any]:
    """Two specialists, either of whom may hand over to the other."""
    shipping, billing = (
        Agent[None](name=name, instructions=f"You are {name}.", tools=[REFUND], model=model)
        for name in ("shipping", "billing")
    )
    own = {"tool_name_override": "hand_over", "input_type": HandOver, "on_handoff": on_handoff}
    shipping.handoffs = [handoff(billing, **(handoffs or own))]
    billing.handoffs = [handoff(shipping, **(handoffs or own))]
    return shipping, billing


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", ["ping-pong-handoff", "lost-write"])
def test_two_specialists_who_own_their_tools_are_contained(case: str, way: str) -> None:
    async def agent(task: Task) -> Any:
        first = task.adopt(team(task.model.openai_agents())[0])
        return (await go(way, first, task.prompt)).final_output

    run = Harness(case, agent).run()

    run.check()
    assert run.interrupted


def test_the_agent_that_is_taken_over_is_not_changed_and_may_have_cycles() -> None:
    shipping, billing = team()
    found: list[Any] = []

    Harness("ping-pong-handoff", lambda task: found.append(task.adopt(shipping))).run()

    (clone,) = found
    other = target_of(clone.handoffs[0])
    assert clone is not shipping
    assert clone.tools[0] is not REFUND
    assert shipping.tools == [REFUND]
    assert target_of(shipping.handoffs[0]) is billing
    assert (clone.name, other.name) == ("shipping", "billing")
    assert target_of(other.handoffs[0]) is clone
    assert definition(clone.tools[0]) == definition(REFUND)
    assert definition(clone.handoffs[0]) == definition(shipping.handoffs[0])


def test_what_plays_no_role_is_named_wherever_it_is() -> None:
    shipping, billing = team()
    billing.tools = [look]
    inner = Agent[None](name="librarian", tools=[function_tool(lambda: "", name_override="shelve")])
    shipping.tools = [REFUND, inner.as_tool("ask_librarian", "Ask."), WebSearchTool()]

    with pytest.raises(HarnessError) as caught:
        Harness("ping-pong-handoff", lambda task: task.adopt(shipping)).run()

    for name in ("'look' of billing", "'shelve' of librarian", "'web_search' of shipping"):
        assert name in str(caught.value)
    assert "ask_librarian" not in str(caught.value)


def test_an_agent_inside_a_tool_is_taken_over() -> None:
    async def agent(task: Task) -> Any:
        inner = Agent[None](
            name="cashier",
            instructions="You pay.",
            tools=[REFUND],
            model=task.model.openai_agents(),
        )
        outer = Agent[None](
            name="front",
            tools=[inner.as_tool("ask_cashier", "Ask.", max_turns=40)],
            model=ScriptedModel(
                [
                    [function_call("ask_cashier", {"input": task.prompt}, call_id="out-1")],
                    [assistant_message("Done.")],
                ]
            ),
        )
        adopted = task.adopt(outer)
        assert agent_in(outer.tools[0]) is inner
        return (await go("run", adopted, task.prompt)).final_output

    run = Harness("lost-write", agent).run()

    run.check()
    assert run.reason == "unknown_side_effect"
    assert sum(isinstance(each, Dispatch) for each in run.events) > 0


class Echo:
    """Answers with what it was asked; or refuses it."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def call(self, name: str, arguments: Any, **who: Any) -> Any:
        return self.answer or {"name": name, **arguments, **who}

    async def acall(self, name: str, arguments: Any, **who: Any) -> Any:
        return self.call(name, arguments, **who)


def test_a_tool_alone_is_taken_over_and_nothing_else() -> None:
    tool = adopt(REFUND, Adoption(Echo(), ["issue_refund"]))
    raw = '{"order_id": "A-1"}'
    context = ToolContext(
        None,
        tool_name="issue_refund",
        tool_call_id="c-7",
        tool_arguments=raw,
        agent=Agent(name="shipping"),
    )

    told = asyncio.run(tool.on_invoke_tool(context, raw))

    assert json.loads(told) == {
        "name": "issue_refund",
        "order_id": "A-1",
        "call_id": "c-7",
        "agent": "shipping",
    }
    with pytest.raises(TypeError, match="a WebSearchTool cannot be adopted"):
        adopt(WebSearchTool(), Adoption(Echo(), []))


def test_a_hand_off_of_the_teams_own_shape_plays_the_role() -> None:
    class Pass(BaseModel):
        colleague: str
        case: str
        why: str
        known: str = ""

    options = {"tool_name_override": "pass_on", "input_type": Pass, "on_handoff": on_handoff}
    shipping, _ = team(**options)
    meaning = {"colleague": TARGET, "case": RESOURCE, "why": WORDING, "known": DETAIL}
    role = Role(definition(shipping.handoffs[0]), meaning)

    async def agent(task: Task) -> Any:
        first = task.adopt(team(task.model.openai_agents(), **options)[0])
        return (await go("run", first, task.prompt)).final_output

    run = Harness("ping-pong-handoff", agent, options=Options(roles={"handoff": role})).run()

    run.check()
    assert run.reason == "handoff_without_progress"


def test_what_the_provider_runs_has_no_definition() -> None:
    assert definition(Agent(name="billing"))["name"] == "transfer_to_billing"
    with pytest.raises(TypeError, match="a WebSearchTool has no schema"):
        definition(WebSearchTool())


async def handed(agent: Any, raw: str = "") -> tuple[Any, str]:
    """Who has the word after the hand-off of an agent, and what the model is told."""
    (only,) = agent.handoffs
    to = await only.on_invoke_handoff(None, raw)
    return to, only.get_transfer_message(to)


def test_a_hand_off_that_is_refused_leaves_the_word_where_it_is() -> None:
    refusal = {"refused": True, "reason": "handoff_without_progress", "message": "No."}
    adopted = adopt(team()[0], Adoption(Echo(refusal), ["hand_over", "issue_refund"]))

    to, message = asyncio.run(handed(adopted, "{}"))

    assert to is adopted
    assert json.loads(message) == refusal


def test_a_hand_off_without_a_part_leads_to_the_clone() -> None:
    first = Agent[None](name="first")
    second = Agent[None](name="second", handoffs=[first])
    first.handoffs = [second]
    adopted = adopt(first, Adoption(Echo(), []))

    to, message = asyncio.run(handed(adopted))
    back, _ = asyncio.run(handed(to))

    assert to is not second
    assert (to.name, message) == ("second", '{"assistant": "second"}')
    assert back is adopted


def test_an_agent_that_only_the_hand_off_knows_is_taken_over_when_it_comes() -> None:
    async def somebody(_context: Any, _raw: str) -> Any:
        return Agent[None](name="stranger", tools=[look])

    dynamic = Handoff[Any, Any](
        tool_name="ask_somebody",
        tool_description="Ask.",
        input_json_schema={},
        on_invoke_handoff=somebody,
        agent_name="stranger",
    )
    adopted = adopt(Agent[None](name="first", handoffs=[dynamic]), Adoption(Echo(), []))

    with pytest.raises(UnknownToolError, match="'look' of stranger"):
        asyncio.run(handed(adopted))


def test_tools_of_a_server_cannot_be_taken_over() -> None:
    class Server:
        name = "ledger"

    adoption = Adoption(Echo(), [])
    agent = Agent[None](name="clerk")
    agent.mcp_servers = [Server()]

    adopt(agent, adoption)

    with pytest.raises(UnknownToolError, match="MCP server ledger' of clerk"):
        adoption.check()


def test_an_agents_tool_that_plays_a_part_is_no_agents_any_more() -> None:
    inner = Agent[None](name="cashier", tools=[look])
    outer = Agent[None](name="front", tools=[inner.as_tool("issue_refund", "Pay.")])

    adopted = adopt(outer, Adoption(Echo(), ["issue_refund"]))

    assert agent_in(outer.tools[0]) is inner
    assert agent_in(adopted.tools[0]) is None
