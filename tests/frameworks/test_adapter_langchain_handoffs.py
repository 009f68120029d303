"""Plain hand-offs of LangGraph: tools that return a `Command` and take nothing from the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import langgraph.types
import pytest
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolCallId, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState
from langgraph.types import Command, Send

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, Harness, Options, Role, Run, Task
from pytest_tripwire.adapters.langchain import guarded_tool_node
from pytest_tripwire.breaker import Breaker
from pytest_tripwire.guard import UndeclaredToolError
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Dispatch, Effect

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


# -- which tools are taken for hand-offs that nobody has declared


def annotated() -> Command[Any]:
    return going_on()


def built() -> Any:
    return Command(goto="billing", graph=Command.PARENT)


def sending() -> Any:
    state: dict[str, Any] = {"messages": []}
    return langgraph.types.Command(goto=[Send("billing", state)], graph=Command.PARENT)


async def later(call: Annotated[str, InjectedToolCallId]) -> Any:
    told = ToolMessage("Handed over.", tool_call_id=call)
    return Command(goto="billing", graph=Command.PARENT, update={"messages": [told]})


def kept(euros: float) -> Any:
    return Command(update={"balance": -euros})


def paid(goto: str, euros: float) -> Any:
    return {"goto": goto, "euros": euros}


def going_on() -> Any:
    return Command(goto="billing")


def helped() -> Any:
    return going_on()


def made(name: str, function: Callable[..., Any], **more: Any) -> BaseTool:
    built = tool(name, description="Do it.")(function)
    return built.model_copy(update=more)


@pytest.mark.parametrize("function", [annotated, built, sending, later])
def test_a_tool_that_says_who_goes_on_is_a_hand_off_with_and_without_a_hint(
    function: Callable[..., Any],
) -> None:
    run = Breaker().run()

    guarded_tool_node([made("transfer_to_billing", function)], run)

    assert run.declared("transfer_to_billing").effect is Effect.HANDOFF


def test_a_tool_of_a_supervisor_or_a_swarm_is_one_whatever_it_is_called() -> None:
    run = Breaker().run()

    metadata = {"__handoff_destination": "billing"}
    guarded_tool_node([made("ask_a_colleague", helped, metadata=metadata)], run)

    assert run.declared("ask_a_colleague").effect is Effect.HANDOFF


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("transfer_to_account", kept),
        ("transfer_to_account", paid),
        ("transfer_to_billing", helped),
        ("pay_and_go_on", built),
    ],
)
def test_any_other_has_to_be_declared_and_the_error_says_how(
    name: str, function: Callable[..., Any]
) -> None:
    with pytest.raises(UndeclaredToolError) as undeclared:
        guarded_tool_node([made(name, function)], Breaker().run())

    assert '@tool_spec(effect="handoff")' in "".join(undeclared.value.__notes__)
