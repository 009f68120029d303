"""What a tool of LangChain's is declared to raise, where the framework makes a message of it."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ToolRetryMiddleware
from langchain.tools import InjectedState, tool
from langchain_core.runnables import RunnableConfig  # noqa: TC002 - read when the tool is made
from langchain_core.tools import BaseTool, ToolException

from pytest_tripwire.adapters.langchain import TripwireMiddleware, guarded_tool_node
from pytest_tripwire.breaker import Breaker, Interrupted, ToolSpec, tool_spec
from pytest_tripwire.timeline import Effect

from .langchain_kit import (
    ASKED,
    WAYS,
    answers,
    by_hand,
    driven,
    model_of,
    untraced,  # noqa: F401 - a fixture
)

NEEDS = ("langchain", "langgraph")

CARDS = [("pay", {"invoice": "I-1", "card": card}) for card in "AB"]


class CardDeclinedError(ToolException):
    """Nothing was paid."""


class Till:
    """A tool that pays by card, and the cards that were tried."""

    def __init__(self, *fails: Exception | None, **declared: Any) -> None:
        self.tried: list[str] = []
        declared = declared or {"definite_failures": (CardDeclinedError,)}

        @tool
        @tool_spec(effect="write", identity=("invoice",), **declared)
        def pay(invoice: str, card: str) -> dict[str, Any]:
            """Pay an invoice."""
            fails_now = fails[len(self.tried)] if len(self.tried) < len(fails) else None
            self.tried.append(card)
            if fails_now is not None:
                raise fails_now
            return {"payment_id": "P-1", "invoice": invoice}

        self.pay = pay


def agent(run: Any, pay: Any, turns: Any, *inner: Any) -> Any:
    """One whose tools make messages of their errors."""
    pay.handle_tool_error = True
    guard = TripwireMiddleware(run)
    return create_agent(model_of(*turns), [pay], middleware=[guard, *inner])


def node(run: Any, pay: Any, turns: Any) -> Any:
    """A graph whose node makes messages of the errors of its tools."""
    return by_hand(guarded_tool_node([pay], run, handle_tool_errors=True), *turns)


KINDS = pytest.mark.parametrize("graph", [agent, node])


@KINDS
@pytest.mark.parametrize("way", WAYS)
def test_a_write_that_was_declined_may_be_made_otherwise(way: str, graph: Any) -> None:
    till = Till(CardDeclinedError("no funds"))

    with Breaker().run() as run:
        ended = driven(graph(run, till.pay, CARDS), ASKED, way)

    assert till.tried == ["A", "B"]
    assert "no funds" in answers(ended)[0]
    assert answers(ended)[1]["payment_id"] == "P-1"


@KINDS
@pytest.mark.parametrize("way", WAYS)
def test_a_denial_is_one_and_is_asked_again_in_vain(way: str, graph: Any) -> None:
    denied = CardDeclinedError("not yours")
    till = Till(denied, denied, denied, denials=("CardDeclinedError",))
    turns = [("pay", {"invoice": "I-1", "card": card}) for card in "ABC"]

    with Breaker().run() as run:
        ended = driven(graph(run, till.pay, turns), ASKED, way)

    assert till.tried == ["A", "B"]
    assert "not yours" in answers(ended)[0]
    assert answers(ended)[-1]["reason"] == "repeated_denial"


@KINDS
@pytest.mark.parametrize("way", WAYS)
def test_an_error_that_nobody_declared_leaves_a_write_in_doubt(way: str, graph: Any) -> None:
    till = Till(ToolException("late"))

    with pytest.raises(Interrupted) as stop, Breaker().run() as run:
        driven(graph(run, till.pay, CARDS), ASKED, way)

    assert stop.value.reason == "unknown_side_effect"
    assert till.tried == ["A"]


@pytest.mark.parametrize("way", WAYS)
def test_a_retry_next_to_the_tool_hides_no_try_that_may_have_paid(way: str) -> None:
    till = Till(TimeoutError("late"), CardDeclinedError("no funds"))
    retry = ToolRetryMiddleware(max_retries=1, initial_delay=0, jitter=False, on_failure="continue")

    with pytest.raises(Interrupted), Breaker().run() as run:
        driven(agent(run, till.pay, CARDS, retry), ASKED, way)

    assert till.tried == ["A", "A"]


class Twice(AgentMiddleware):
    """Runs each tool twice, and tells of the second time."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        handler(request)
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        await handler(request)
        return await handler(request)


@pytest.mark.parametrize("way", WAYS)
def test_a_try_that_went_well_is_not_undone_by_one_that_was_declined(way: str) -> None:
    till = Till(None, CardDeclinedError("paid already"))

    with pytest.raises(Interrupted), Breaker().run() as run:
        driven(agent(run, till.pay, CARDS, Twice()), ASKED, way)

    assert till.tried == ["A", "A"]


@pytest.mark.parametrize("way", WAYS)
def test_a_tool_that_is_a_class_is_seen_as_well(way: str) -> None:
    tried: list[str] = []

    class Pay(BaseTool):
        name: str = "pay"
        description: str = "Pay an invoice."

        def _run(self, invoice: str, card: str) -> str:
            tried.append(card)
            if card == "A":
                raise CardDeclinedError("no funds")
            return invoice

    spec = ToolSpec(
        name="pay",
        effect=Effect.WRITE,
        identity=("invoice",),
        definite_failures=(CardDeclinedError,),
    )
    pay = Pay()
    with Breaker(specs={"pay": spec}).run() as run:
        driven(agent(run, pay, CARDS), ASKED, way)

    assert tried == ["A", "B"]
    assert "_run" not in vars(pay)


@pytest.mark.parametrize("way", WAYS)
def test_what_the_framework_puts_in_reaches_a_tool_that_declares_failures(way: str) -> None:
    got: list[Any] = []

    @tool
    @tool_spec(effect="write", identity=("invoice",), definite_failures=(CardDeclinedError,))
    def pay(
        invoice: str, card: str, state: Annotated[Any, InjectedState], config: RunnableConfig
    ) -> str:
        """Pay an invoice."""
        got.append((invoice, card, len(state["messages"]), config["configurable"]["till"]))
        return invoice

    with Breaker().run() as run:
        driven(agent(run, pay, CARDS[:1]), ASKED, way, {"configurable": {"till": 7}})

    assert got == [("I-1", "A", 2, 7)]
