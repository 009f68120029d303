"""A theatre's box office on LangGraph: two agents of `create_agent`, who own their tools."""

import itertools
from collections.abc import Callable, Collection
from typing import Any, Literal, NotRequired

from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain.messages import ToolMessage
from langchain.tools import BaseTool, ToolRuntime, tool
from langchain.tools.tool_node import ToolCallRequest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from pytest_tripwire import Task

#: Steps of the graph, two for a turn. The default is in the thousands.
RECURSION_LIMIT = 150
INSTRUCTIONS = {
    "foyer": "You look after seats and shows. What is about money goes to the treasury.",
    "treasury": "You look after payments. What may have been paid is looked up first.",
}


@tool
def search_programme(show: str, words: str, sheet: int = 1) -> list[dict[str, Any]]:
    """Look something up in the programme.

    Args:
        show: which show it is about.
        words: what to look for.
        sheet: which sheet of what was found.
    """
    raise NotImplementedError(show, words, sheet)


@tool
def show_ticket(ticket: str) -> dict[str, Any]:
    """Show a ticket."""
    raise NotImplementedError(ticket)


@tool
def show_payment(ticket: str) -> dict[str, Any]:
    """Show what was paid back on a ticket."""
    raise NotImplementedError(ticket)


@tool
def pay_back(ticket: str, euros: float, why: str, stub: str) -> dict[str, Any]:
    """Pay a visitor back.

    Args:
        ticket: its number.
        euros: how much.
        why: for the books.
        stub: a new number for each payment.
    """
    raise NotImplementedError(ticket, euros, why, stub)


@tool
def give_credit(ticket: str, euros: float, why: str, stub: str) -> dict[str, Any]:
    """Give a visitor credit for another evening.

    Args:
        ticket: its number.
        euros: how much it is worth.
        why: for the books.
        stub: a new number for each credit.
    """
    raise NotImplementedError(ticket, euros, why, stub)


TOOLS = (search_programme, show_ticket, show_payment, pay_back, give_credit)


def transfer_from(sender: str) -> BaseTool:
    """A hand-off as LangGraph has it: a tool that says which agent of the graph goes on."""
    other = next(name for name in INSTRUCTIONS if name != sender)

    @tool
    def transfer_to_colleague(
        colleague: str,
        ticket: str,
        why: str,
        runtime: ToolRuntime,
        known: str = "",
    ) -> Command[str]:
        """Hand the visitor over to a colleague."""
        told = f"{colleague} has taken over {ticket}: {why} {known}"
        message = ToolMessage(told, tool_call_id=runtime.tool_call_id)
        update = {"messages": [*runtime.state["messages"], message], "active": other}
        return Command(goto=other, update=update, graph=Command.PARENT)

    return transfer_to_colleague


@wrap_tool_call
def tell_errors(
    request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]
) -> ToolMessage | Any:
    """What a tool raises would end the run; the model is told of it, as it might know better."""
    try:
        return handler(request)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        return ToolMessage(said, tool_call_id=request.tool_call["id"], status="error")


class House(MessagesState):
    """The conversation, and who has it."""

    active: NotRequired[Literal["foyer", "treasury"]]


def box_office(model: Any, wanted: Collection[str], checkpoints: Any) -> Any:
    """The graph; who had the visitor last goes on."""
    graph = StateGraph(House)
    for name, instructions in INSTRUCTIONS.items():
        tools = [each for each in (*TOOLS, transfer_from(name)) if each.name in wanted]
        agent = create_agent(
            model, tools, system_prompt=instructions, middleware=[tell_errors], name=name
        )
        graph.add_node(name, agent)
    graph.add_conditional_edges(
        START, lambda state: state.get("active", "foyer"), list(INSTRUCTIONS)
    )
    return graph.compile(checkpointer=checkpoints)


class BoxOffice:
    """Answers visitors. Its checkpoints outlive a call, its graph does not."""

    def __init__(self) -> None:
        self._checkpoints = InMemorySaver()
        self._evenings = itertools.count(1)
        self._thread = ""

    def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on in the same thread."""
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        if task.resume is None:
            self._thread = f"evening-{next(self._evenings)}"
        # A case has some of the tools; the agents are built with those that it has.
        graph = box_office(task.model.langchain(), task.tools, self._checkpoints)
        ended = task.adopt(graph).invoke(
            {"messages": [{"role": "user", "content": said}]},
            {"configurable": {"thread_id": self._thread}, "recursion_limit": RECURSION_LIMIT},
        )
        return str(ended["messages"][-1].content)
