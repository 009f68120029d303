"""Plain hand-offs of LangGraph: tools that return a `Command` and take nothing from the model."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Harness, Options, Role, Run, Task
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Dispatch

NEEDS = ("langchain", "langgraph")

CASE = "ping-pong-handoff"


@tool
def pay(order: str, euros: float, why: str, slip: str) -> str:
    """Pay a customer back."""
    raise AssertionError(order, euros, why, slip)


def transfer_to(name: str) -> BaseTool:
    """A hand-off as LangGraph's documentation writes it."""

    @tool(f"transfer_to_{name}", description=f"Hand over to {name}.")
    def transfer(
        state: Annotated[dict[str, Any], InjectedState],
        tool_call_id: Annotated[str, InjectedToolCallId],
    ) -> Command[Any]:
        told = ToolMessage("Handed over.", tool_call_id=tool_call_id, name=f"transfer_to_{name}")
        update = {"messages": [*state["messages"], told]}
        return Command(goto=name, graph=Command.PARENT, update=update)

    return transfer


DOORS = {name: transfer_to(name) for name in ("billing", "shipping", "triage")}
DESK = {"triage": ("billing", "shipping"), "billing": ("triage",), "shipping": ("triage",)}
ROLES = {
    "write": Role(pay, {"order": RESOURCE, "euros": AMOUNT, "why": WORDING, "slip": NONCE}),
    "handoff": Role(tuple(DOORS.values())),
}


def desk(model: Any) -> Any:
    """Triage has hand-offs alone, two specialists can pay and hand back."""
    graph = StateGraph(MessagesState)
    for name, colleagues in DESK.items():
        tools: list[Any] = [DOORS[each] for each in colleagues]
        own = tools if name == "triage" else [pay, *tools]
        agent = create_agent(model, own, system_prompt=f"You are {name}.", name=name)
        graph.add_node(name, agent)
    graph.add_edge(START, "triage")
    return graph.compile()


def play(case: str, **options: Any) -> Run:
    def agent(task: Task) -> str:
        adopted = task.adopt(desk(task.model.langchain()))
        asked = {"messages": [{"role": "user", "content": task.prompt}]}
        ended = adopted.invoke(asked, {"recursion_limit": 150})
        return str(ended["messages"][-1].content)

    return Harness(case, agent, options=Options(roles=ROLES, **options)).run()


def sent(run: Run) -> list[str]:
    return [each.tool for each in run.events if isinstance(each, Dispatch)]


@pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])
def test_going_to_and_fro_is_stopped(persona: str) -> None:
    run = play(CASE, persona=persona)

    run.check()
    assert sent(run)[:2] == ["transfer_to_billing", "transfer_to_triage"]
    assert persona != "stubborn" or run.reason == "handoff_without_progress"


def test_nobody_stops_it_under_the_teams_own_protection() -> None:
    run = play(CASE, protection="own")

    assert run.cell.state is State.ESCAPED
    assert sent(run) == ["transfer_to_billing", "transfer_to_triage"] * 4


def test_triage_is_passed_where_hand_offs_are_no_part() -> None:
    run = play("lost-write/batch")

    run.check()
    assert set(sent(run)) == {"pay"}
