"""LangChain's native tools, and agents and graphs of LangGraph's that are taken over."""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, TodoListMiddleware, wrap_tool_call
from langchain.messages import AIMessage, ToolMessage
from langchain.tools import InjectedState, ToolRuntime, tool
from langchain_core._api.beta_decorator import LangChainBetaWarning
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.runnables import RunnableConfig, RunnableLambda, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.pregel import Pregel
from langgraph.types import Command
from langsmith import tracing_context

from pytest_tripwire import Harness, HarnessError, Run, Task
from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.langchain import adopt, definition
from pytest_tripwire.adapters.langchain.asking import ANSWERS
from pytest_tripwire.adapters.langchain.bodies import Borrowed
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Decided, Dispatch, ModeChange, Mutation

NEEDS = ("langchain", "langgraph")

STEPS = {"recursion_limit": 150}
WAYS = ("invoke", "ainvoke", "stream", "astream")


@pytest.fixture(autouse=True)
def _untraced() -> Iterator[None]:
    # Whatever the environment says, a scripted run is nobody's trace.
    with tracing_context(enabled=False):
        yield


# -- the contract


@tool
def refund_nobody() -> str:
    """Do nothing."""
    return "nothing"


def as_tool(graph: Any, name: str) -> Any:
    with warnings.catch_warnings():
        # It is in beta, and used all the same.
        warnings.simplefilter("ignore", LangChainBetaWarning)
        return graph.as_tool(name=name, description="Ask.", arg_types={"messages": list})


def answers_kept() -> bool:
    found: list[Any] = []

    def look(state: MessagesState, config: RunnableConfig) -> None:
        found.append(config["configurable"].get(ANSWERS))

    graph = StateGraph(MessagesState)
    graph.add_node("look", look)
    graph.add_edge(START, "look")
    graph.compile().invoke({"messages": []})
    (kept,) = found
    return bool(kept.resume == [] and kept.get_null_resume() is None)


def needed() -> dict[str, bool]:
    """What of the framework the adapter rests on, and whether it is there."""
    node = ToolNode([refund_nobody])
    graph = create_agent(GenericFakeChatModel(messages=iter([])), tools=[refund_nobody])
    in_graph = graph.nodes["tools"]
    run = inspect.signature(BaseTool.run).parameters
    return {
        "AgentMiddleware.wrap_tool_call": hasattr(AgentMiddleware, "wrap_tool_call"),
        "AgentMiddleware.awrap_tool_call": hasattr(AgentMiddleware, "awrap_tool_call"),
        "AgentMiddleware.wrap_model_call": hasattr(AgentMiddleware, "wrap_model_call"),
        "AgentMiddleware.awrap_model_call": hasattr(AgentMiddleware, "awrap_model_call"),
        "BaseTool.run(tool_call_id=, config=)": {"tool_call_id", "config"} <= set(run),
        "BaseTool.tool_call_schema": hasattr(BaseTool, "tool_call_schema"),
        "BaseTool.extras": "extras" in BaseTool.model_fields,
        "ToolNode.tools_by_name": "refund_nobody" in node.tools_by_name,
        "ToolNode._wrap_tool_call": hasattr(node, "_wrap_tool_call"),
        "ToolNode._awrap_tool_call": hasattr(node, "_awrap_tool_call"),
        "ToolNode._handle_tool_errors": hasattr(node, "_handle_tool_errors"),
        "ToolNode._messages_key": hasattr(node, "_messages_key"),
        "ToolNode._parse_input": hasattr(node, "_parse_input"),
        "a task's answers, in its config": answers_kept(),
        "create_agent's graph is a Pregel": isinstance(graph, Pregel),
        "create_agent's node 'tools' is a ToolNode": type(in_graph.bound) is ToolNode,
        "PregelNode.copy": hasattr(in_graph, "copy"),
        "PregelNode.subgraphs": hasattr(in_graph, "subgraphs"),
        "Pregel.copy": hasattr(graph, "copy"),
        "RunnableBindingBase.bound": "bound" in RunnableBindingBase.model_fields,
        "RunnableSequence.steps": hasattr(RunnableSequence, "steps"),
        "as_tool is made in langchain_core.tools.convert": (
            as_tool(graph, "helper").func.__module__ == "langchain_core.tools.convert"
        ),
    }


def test_what_the_adapter_rests_on_is_there() -> None:
    gone = [name for name, there in needed().items() if not there]

    assert not gone, f"this release of LangChain has no {', '.join(gone)}: the adapter needs it"


# -- native tools


class Told(AgentMiddleware):
    """What a tool raises ends the run; this tells the model."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return handler(request)
        except Exception as error:  # noqa: BLE001 - whatever it is
            return ToolMessage(f"{error}", tool_call_id=request.tool_call["id"], status="error")

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except Exception as error:  # noqa: BLE001 - whatever it is
            return ToolMessage(f"{error}", tool_call_id=request.tool_call["id"], status="error")


def driven(build: Callable[[Task], Any], way: str = "invoke") -> Callable[[Task], Any]:
    """An agent that builds its graph for each task and goes one of four ways."""

    def asked(task: Task) -> Any:
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        return {"messages": [{"role": "user", "content": said}]}

    def sync(task: Task) -> str:
        graph = build(task)
        if way == "invoke":
            return str(graph.invoke(asked(task), STEPS)["messages"][-1].text)
        return str(
            list(graph.stream(asked(task), STEPS, stream_mode="values"))[-1]["messages"][-1].text
        )

    async def later(task: Task) -> str:
        graph = build(task)
        if way == "ainvoke":
            return str((await graph.ainvoke(asked(task), STEPS))["messages"][-1].text)
        parts = [each async for each in graph.astream(asked(task), STEPS, stream_mode="values")]
        return str(parts[-1]["messages"][-1].text)

    return later if way.startswith("a") else sync


def contained(case: str, agent: Callable[[Task], Any]) -> Run:
    run = Harness(case, agent).run()
    run.check()
    assert run.cell.state is State.CONTAINED
    assert_nothing_after_the_stop(run)
    return run


def assert_nothing_after_the_stop(run: Run) -> None:
    stops = [each.seq for each in run.events if isinstance(each, ModeChange)]
    sent = {each.seq for each in run.events if isinstance(each, Dispatch)}
    wrote = [each.dispatch for each in run.events if isinstance(each, Mutation)]
    assert set(wrote) <= sent
    assert not stops or all(each < stops[-1] for each in wrote)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASE_IDS)
def test_an_agent_with_native_tools_is_contained(case: str, way: str) -> None:
    def build(task: Task) -> Any:
        return create_agent(
            task.model.langchain(), task.tools.langchain(), middleware=[Told()], name="support"
        )

    run = contained(case, driven(build, way))

    calls = [each for each in run.events if isinstance(each, Decided)]
    assert calls
    assert all(each.call_id.startswith("call_") for each in calls)


def test_a_tool_is_known_to_be_called_by_which_agent() -> None:
    caller = Noted()
    graph = graph_of([adopt(search_articles, Adoption(caller, ["search_articles"]))], "billing")

    graph.invoke({"messages": [("user", "Look.")]})

    assert caller.calls == [(*LOOK, "c1", "billing")]


class Noted:
    """A caller that notes what it was asked; `answer` is what it gives."""

    def __init__(self, answer: Any = None) -> None:
        self.calls: list[Any] = []
        self.answer = {"found": 1} if answer is None else answer

    def call(
        self, name: str, arguments: Any, *, call_id: str | None = None, agent: str | None = None
    ) -> Any:
        self.calls.append((name, dict(arguments), call_id, agent))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def acall(
        self, name: str, arguments: Any, *, call_id: str | None = None, agent: str | None = None
    ) -> Any:
        return self.call(name, arguments, call_id=call_id, agent=agent)


class Model(GenericFakeChatModel):
    """Says what it was told to say, whatever tools it has."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self


def model_of(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A model that makes one call in each turn, and then speaks."""
    made = [
        AIMessage("", tool_calls=[{"name": name, "args": args, "id": f"c{n}"}])
        for n, (name, args) in enumerate(calls, 1)
    ]
    return Model(messages=iter([*made, AIMessage("Done.")]))


LOOK = ("search_articles", {"topic": "t", "query": "q", "page": 1})


def graph_of(tools: list[Any], name: str = "support", *calls: Any, **options: Any) -> Any:
    return create_agent(model_of(*(calls or [LOOK])), tools, name=name, **options)


class RealWorldError(Exception):
    """A body has run that reaches the world outside."""


@tool
def search_articles(topic: str, query: str, page: int = 1) -> list[Any]:
    """Search the help pages."""
    raise RealWorldError


@tool
def issue_refund(
    order_id: str,
    amount: int,
    reason: str,
    request_id: str,
    state: Annotated[dict[str, Any], InjectedState],
) -> dict[str, Any]:
    """Pay a customer back."""
    raise RealWorldError


@tool
def get_refund(order_id: str) -> dict[str, Any]:
    """Look up a refund."""
    raise RealWorldError


@tool
def issue_credit(order_id: str, amount: int, note: str, request_id: str) -> dict[str, Any]:
    """Give a customer credit."""
    raise RealWorldError


@tool
def hand_over(to: str, order_id: str, note: str, findings: str) -> str:
    """Hand over."""
    raise RealWorldError


@tool
def get_order(order_id: str) -> dict[str, Any]:
    """Look an order up."""
    raise RealWorldError


OWN = [search_articles, issue_refund, get_refund, issue_credit, hand_over, get_order]


def owned(task: Task, **options: Any) -> Any:
    """An agent that owns those of its tools that the case has bodies for."""
    tools = [each for each in OWN if each.name in task.tools]
    return create_agent(task.model.langchain(), tools, middleware=[Told()], **options)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASE_IDS)
def test_an_agent_that_owns_its_tools_is_taken_over(case: str, way: str) -> None:
    contained(case, driven(lambda task: task.adopt(owned(task)), way))


def test_a_tool_keeps_what_the_model_is_shown_of_it() -> None:
    taken = adopt([issue_refund], Adoption(Noted(), ["issue_refund"]))[0]

    assert definition(taken) == definition(issue_refund)
    assert set(definition(taken)["parameters"]["properties"]) == {
        "order_id",
        "amount",
        "reason",
        "request_id",
    }


def test_the_agent_itself_is_left_as_it_is() -> None:
    graph = graph_of([search_articles])

    adopt(graph, Adoption(Noted(), ["search_articles"]))

    assert graph.nodes["tools"].bound.tools_by_name == {"search_articles": search_articles}
    with pytest.raises(RealWorldError):
        graph.invoke({"messages": [("user", "Look.")]})


def test_a_tool_in_code_gets_the_result_as_it_is_and_a_model_as_text() -> None:
    taken = adopt(search_articles, Adoption(Noted(["a"]), ["search_articles"]))
    call = {"name": "search_articles", "args": LOOK[1], "id": "c1", "type": "tool_call"}

    assert taken.invoke(LOOK[1]) == ["a"]
    assert taken.invoke(call).content == '["a"]'
    assert asyncio.run(taken.ainvoke(call)).content == '["a"]'


def test_arguments_that_do_not_fit_are_told_and_nothing_is_called() -> None:
    caller = Noted()
    graph = adopt(
        graph_of([search_articles], "a", ("search_articles", {"topic": "t"})),
        Adoption(caller, ["search_articles"]),
    )

    answer = graph.invoke({"messages": [("user", "Look.")]})["messages"][-2]

    assert (answer.status, caller.calls) == ("error", [])
    assert "query" in answer.text


def test_what_a_body_raises_comes_out_of_the_graph() -> None:
    caller = Noted(TimeoutError("late"))
    graph = adopt(graph_of([search_articles]), Adoption(caller, ["search_articles"]))

    with pytest.raises(TimeoutError, match="late"):
        graph.invoke({"messages": [("user", "Look.")]})


# -- agents of agents


@tool
def transfer_to_billing(reason: str, runtime: ToolRuntime) -> Command:
    """Hand over to billing."""
    message = ToolMessage("Handed over.", tool_call_id=runtime.tool_call_id)
    update = {"messages": [*runtime.state["messages"], message]}
    return Command(goto="billing", graph=Command.PARENT, update=update)


@tool
def transfer_to_account(amount: int) -> str:
    """Move money."""
    raise RealWorldError


def two(*front: Any, tools: list[Any], back: Any = LOOK) -> Any:
    """A graph of two agents, of which the first hands over to the second."""
    graph = StateGraph(MessagesState)
    graph.add_node("front", graph_of([transfer_to_billing], "front", *front))
    graph.add_node("billing", graph_of(tools, "billing", back))
    graph.add_edge(START, "front")
    graph.add_edge("billing", END)
    return graph.compile(name="shop")


HAND = ("transfer_to_billing", {"reason": "money"})


def test_both_agents_of_a_graph_are_taken_over_and_the_hand_off_stays() -> None:
    caller = Noted()

    graph = adopt(two(HAND, tools=[search_articles]), Adoption(caller, ["search_articles"]))
    ended = graph.invoke({"messages": [("user", "Look.")]})

    assert [(each[0], each[3]) for each in caller.calls] == [("search_articles", "billing")]
    assert ended["messages"][-1].text == "Done."


def test_a_hand_off_that_plays_a_role_asks_first() -> None:
    caller = Noted()
    adoption = Adoption(caller, ["search_articles", "transfer_to_billing"])

    adopt(two(HAND, tools=[search_articles]), adoption).invoke({"messages": [("user", "Look.")]})

    assert [each[:2] for each in caller.calls] == [HAND, LOOK]
    assert caller.calls[0][2:] == ("c1", "front")


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_hand_off_that_is_refused_does_not_happen(way: str) -> None:
    caller = Noted({"refused": True, "reason": "handoff_without_progress", "message": "No."})
    adoption = Adoption(caller, ["search_articles", "transfer_to_billing"])
    graph = adopt(two(HAND, tools=[search_articles]), adoption)
    asked = {"messages": [("user", "Look.")]}

    ended = graph.invoke(asked) if way == "invoke" else asyncio.run(graph.ainvoke(asked))

    assert [each[0] for each in caller.calls] == ["transfer_to_billing"]
    assert '"refused": true' in ended["messages"][-2].text


def test_a_tool_that_plays_no_role_is_named_with_its_agent() -> None:
    adoption = Adoption(Noted(), ["search_articles"])

    adopt(two(tools=[search_articles, issue_credit, transfer_to_account]), adoption)

    with pytest.raises(UnknownToolError, match="'issue_credit' of billing") as caught:
        adoption.check()
    assert "'transfer_to_account'" in str(caught.value)


def test_the_run_stops_at_a_tool_that_plays_no_role() -> None:
    agent = driven(lambda task: task.adopt(two(tools=[*OWN, transfer_to_account])))

    with pytest.raises(HarnessError, match="'transfer_to_account' of billing") as caught:
        Harness("long-investigation", agent).run()
    # It plays a part in another case, and so it may be there.
    assert "issue_refund" not in str(caught.value)


def test_an_agent_that_is_a_tool_is_taken_over() -> None:
    caller = Noted()
    inner = graph_of([search_articles], "inner")
    helper = as_tool(inner, "helper")
    outer = graph_of([helper], "outer", ("helper", {"messages": [{"role": "user", "content": ""}]}))

    adopt(outer, Adoption(caller, ["search_articles"])).invoke({"messages": [("user", "Look.")]})

    assert [(each[0], each[3]) for each in caller.calls] == [("search_articles", "inner")]


def test_a_graph_that_is_in_two_places_is_taken_over_once() -> None:
    graph = StateGraph(MessagesState)
    shared = graph_of([search_articles], "shared")
    for name in ("one", "two"):
        graph.add_node(name, shared)
    graph.add_edge(START, "one")
    graph.add_edge("one", "two")

    taken = adopt(graph.compile(), Adoption(Noted(), ["search_articles"]))

    assert taken.nodes["one"].bound is taken.nodes["two"].bound is not shared


def test_agents_that_have_each_other_for_tools_are_taken_over() -> None:
    one, two_ = graph_of([search_articles], "one"), graph_of([get_order], "two")
    for graph, other in ((one, two_), (two_, one)):
        tools = graph.nodes["tools"].bound.tools_by_name
        tools["ask"] = as_tool(other, "ask")
    caller = Noted()

    adopt(one, Adoption(caller, ["search_articles", "get_order"])).invoke(
        {"messages": [("user", "Look.")]}
    )

    assert [each[0] for each in caller.calls] == ["search_articles"]


def test_a_function_that_calls_an_agent_is_a_tool_like_any_other() -> None:
    inner = graph_of([search_articles], "inner")

    @tool
    def helper(question: str) -> str:
        """Ask the helper."""
        return str(inner.invoke({"messages": [("user", question)]})["messages"][-1].text)

    adoption = Adoption(Noted(), ["search_articles"])
    adopt(graph_of([helper], "outer"), adoption)

    with pytest.raises(UnknownToolError, match="'helper' of outer"):
        adoption.check()


def test_tools_that_change_the_agents_state_alone_stay() -> None:
    plan = ("write_todos", {"todos": [{"content": "Look.", "status": "pending"}]})
    graph = graph_of([search_articles], "a", plan, middleware=[TodoListMiddleware()])
    adoption = Adoption(Noted(), ["search_articles"])

    ended = adopt(graph, adoption).invoke({"messages": [("user", "Plan.")]})

    adoption.check()
    assert ended["todos"] == plan[1]["todos"]


# -- graphs that are built by hand


def by_hand(node: Any) -> Any:
    graph = StateGraph(MessagesState)
    model = model_of(LOOK)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


@pytest.mark.parametrize(
    "node",
    [
        ToolNode([search_articles]),
        RunnableLambda(lambda state: state) | ToolNode([search_articles]),
        ToolNode([search_articles]).with_config(tags=["x"]),
    ],
    ids=["node", "sequence", "binding"],
)
def test_a_tool_node_is_taken_over_wherever_it_stands(node: Any) -> None:
    caller = Noted()

    adopt(by_hand(node), Adoption(caller, ["search_articles"])).invoke(
        {"messages": [("user", "Look.")]}
    )

    assert [each[:2] for each in caller.calls] == [LOOK]


def calling(graph: Any) -> Any:
    def call(state: Any) -> Any:
        return graph.invoke(state)

    return call


def test_a_tool_that_code_runs_by_itself_does_not_run_unseen() -> None:
    def run_it(state: Any) -> Any:
        call = state["messages"][-1].tool_calls[0]
        return {"messages": [search_articles.invoke({**call, "type": "tool_call"})]}

    graph = adopt(by_hand(run_it), Adoption(Noted(), ["search_articles"]))

    with pytest.raises(UnknownToolError, match="'search_articles' is run by code of the agent's"):
        graph.invoke({"messages": [("user", "Look.")]})
    with pytest.raises(UnknownToolError, match="'search_articles' is run by code of the agent's"):
        asyncio.run(
            adopt(by_hand(run_it), Adoption(Noted(), [])).ainvoke({"messages": [("user", "Look.")]})
        )


def test_a_function_that_calls_a_graph_is_named_with_the_tools_in_it() -> None:
    inner = graph_of([search_articles], "inner")
    graph = by_hand(calling(inner))

    with pytest.raises(UnknownToolError, match=r"'tools' of .* is a function .*search_articles"):
        adopt(graph, Adoption(Noted(), ["search_articles"]))


def test_a_function_may_call_a_graph_that_was_built_with_the_tasks_tools() -> None:
    caller = Noted()
    inner = graph_of([adopt(search_articles, Adoption(caller, ["search_articles"]))], "inner")

    adopt(by_hand(calling(inner)), Adoption(Noted(), [])).invoke({"messages": [("user", "Look.")]})

    assert len(caller.calls) == 1


def test_a_tool_node_of_another_kind_is_named() -> None:
    class Mine(ToolNode):
        pass

    with pytest.raises(UnknownToolError, match="is a Mine, a ToolNode of its own kind"):
        adopt(by_hand(Mine([search_articles])), Adoption(Noted(), ["search_articles"]))


def test_what_is_no_agent_is_named() -> None:
    with pytest.raises(UnknownToolError, match="a RunnableLambda cannot be taken over"):
        adopt(RunnableLambda(lambda given: given), Adoption(Noted(), []))


# -- middlewares of the agent's own


def with_own_tool(found: Any) -> Any:
    @wrap_tool_call
    def supply(request: Any, handler: Any) -> Any:
        return handler(request.override(tool=found))

    return supply


def test_a_tool_that_a_middleware_brings_at_run_time_is_taken_over_too() -> None:
    caller = Noted()
    graph = graph_of([], "a", middleware=[with_own_tool(search_articles)])

    adopt(graph, Adoption(caller, ["search_articles"])).invoke({"messages": [("user", "Look.")]})

    assert [each[:2] for each in caller.calls] == [LOOK]


def test_a_tool_that_a_middleware_brings_and_that_plays_no_role_is_named() -> None:
    graph = graph_of([], "a", middleware=[with_own_tool(search_articles)])

    with pytest.raises(UnknownToolError, match="'search_articles' of a"):
        adopt(graph, Adoption(Noted(), [])).invoke({"messages": [("user", "Look.")]})


def test_a_middleware_that_tries_again_asks_again() -> None:
    @wrap_tool_call
    def twice(request: Any, handler: Any) -> Any:
        handler(request)
        return handler(request)

    caller = Noted()
    graph = graph_of([search_articles], "a", middleware=[twice])

    adopt(graph, Adoption(caller, ["search_articles"])).invoke({"messages": [("user", "Look.")]})

    assert [each[2] for each in caller.calls] == ["c1", "c1"]


def test_a_tool_is_taken_over_once() -> None:
    taken = adopt(search_articles, Adoption(Noted(), ["search_articles"]))

    assert isinstance(taken, Borrowed)
    assert adopt(taken, Adoption(Noted(), [])) is taken
