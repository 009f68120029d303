"""Two LangChain agents in one LangGraph graph, who hand a customer to each other."""

import itertools
import json
from collections.abc import Callable
from typing import Any, Literal, NotRequired

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.messages import ToolMessage
from langchain.tools import BaseTool, ToolRuntime, tool
from langchain.tools.tool_node import ToolCallRequest
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from pytest_tripwire import Task

RECURSION_LIMIT = 150
HANDOFF_TOOL = "hand_over"
INSTRUCTIONS = {
    "shipping": "You look after parcels. Hand over to billing what is about money.",
    "billing": "You look after payments. Hand over to shipping what is about parcels.",
}


class Desk(MessagesState):
    """The conversation, and who has it."""

    active: NotRequired[Literal["shipping", "billing"]]


class Support:
    """Answers customers. Its checkpoints outlive a call, its graph and tools do not."""

    def __init__(self) -> None:
        self._checkpoints = InMemorySaver()
        self._threads = itertools.count(1)
        self._thread = ""

    def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on in the same thread."""
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        if task.resume is None:
            self._thread = f"conversation-{next(self._threads)}"
        ended = desk(task, self._checkpoints).invoke(
            {"messages": [{"role": "user", "content": said}]},
            {"configurable": {"thread_id": self._thread}, "recursion_limit": RECURSION_LIMIT},
        )
        return str(ended["messages"][-1].content)


def desk(task: Task, checkpoints: InMemorySaver) -> Any:
    """The graph: both specialists, and the one who had the customer last goes first."""
    model = ChatOpenAI(
        model=task.model.name,
        base_url=task.model.base_url("openai"),
        api_key=task.model.api_key,
        use_responses_api=False,
    )
    graph = StateGraph(Desk)
    for name, instructions in INSTRUCTIONS.items():
        tools: list[Any] = [each for other, each in task.tools.items() if other != HANDOFF_TOOL]
        if HANDOFF_TOOL in task.tools:
            tools.append(hand_over_tool(task, sender=name))
        specialist = create_agent(
            model, tools, system_prompt=instructions, middleware=[tell_errors], name=name
        )
        graph.add_node(name, specialist)
    graph.add_conditional_edges(
        START, lambda state: state.get("active", "shipping"), list(INSTRUCTIONS)
    )
    return graph.compile(checkpointer=checkpoints)


def hand_over_tool(task: Task, *, sender: str) -> BaseTool:
    """A hand-off in LangGraph is a tool that says where the graph goes on. This one asks the desk
    first; refused, it tells the model why, and the customer stays where he is."""

    @tool(HANDOFF_TOOL, description=task.tools[HANDOFF_TOOL].__doc__)
    def hand_over(
        to: Literal["billing", "shipping"],
        order_id: str,
        note: str,
        runtime: ToolRuntime,
        findings: str = "",
    ) -> Command[str] | str:
        arguments = {"to": to, "order_id": order_id, "note": note, "findings": findings}
        call_id = runtime.tool_call_id
        result = task.tools.call(HANDOFF_TOOL, arguments, call_id=call_id, agent=sender)
        if result.get("refused"):
            return json.dumps(result)
        told = ToolMessage(json.dumps(result), tool_call_id=call_id, name=HANDOFF_TOOL)
        return Command(
            goto=to,
            graph=Command.PARENT,
            update={"messages": [*runtime.state["messages"], told], "active": to},
        )

    return hand_over


@wrap_tool_call
def tell_errors(
    request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
) -> ToolMessage | Any:
    """What a tool raises would end the run; the model is told of it, as it might know better."""
    try:
        return handler(request)
    except Exception as error:
        said = f"Tool error: {type(error).__name__}: {error}"
        return ToolMessage(said, tool_call_id=request.tool_call["id"], status="error")
