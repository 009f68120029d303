"""Agents of one run that have tools of the same name."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from langchain.tools import tool

from pytest_tripwire.adapters.langchain import guarded_tool_node
from pytest_tripwire.breaker import Breaker, ToolSpec, tool_spec
from pytest_tripwire.timeline import Effect

from .langchain_kit import (
    ASKED,
    WAYS,
    agent_of,
    answers,
    driven,
    untraced,  # noqa: F401 - a fixture
)

NEEDS = ("langchain", "langgraph")

DECLARED: dict[str, Any] = {
    "effect": "write",
    "identity": ("invoice",),
    "wording": ("note",),
    "volatile": ("batch",),
    "reconcile": "find",
}
CALL = ("pay", {"invoice": "I-1", "note": "a", "batch": "x"})
AGAIN = ("pay", {"invoice": "I-1", "note": "b", "batch": "y"})


class Books:
    """Agents of one run, each with its own tools of the same names."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.run = Breaker().run()
        self.lost = True

    def tools(self, **declared: Any) -> list[Any]:
        @tool
        @tool_spec(**{**DECLARED, **declared})
        def pay(invoice: str, note: str, batch: str = "") -> dict[str, Any]:
            """Pay."""
            self.paid.append(invoice)
            if self.lost:
                raise ConnectionError("lost")
            return {"payment_id": "P-1"}

        @tool
        @tool_spec(effect="read")
        def find(invoice: str) -> dict[str, Any]:
            """Look a payment up."""
            return {"payment_id": "P-1", "invoice": invoice} if invoice in self.paid else {}

        return [pay, find]

    def agent(self, *calls: Any, **declared: Any) -> Any:
        return agent_of(self.run, self, *calls, tools=self.tools(**declared))


#: Declarations under which what the other agent has written would be something else, or nothing.
OTHERWISE: dict[str, dict[str, Any]] = {
    "identity": {"identity": ("invoice", "batch")},
    "kind": {"operation": "transfer"},
    "repeatable": {"repeatable": True},
    "wording": {"wording": ()},
    "volatile": {"volatile": ()},
    "definite_failures": {"definite_failures": (ConnectionError,)},
    "denials": {"denials": (ConnectionError,)},
    "reconcile": {"reconcile": None},
    "requires_approval": {"requires_approval": True},
}


@pytest.mark.parametrize("other", OTHERWISE)
@pytest.mark.parametrize("way", WAYS)
def test_a_write_is_not_made_again_because_another_agents_is_declared_otherwise(
    way: str, other: str
) -> None:
    books = Books()
    first = books.agent(CALL, AGAIN)
    with pytest.raises(ConnectionError):
        driven(first, ASKED, way)

    told = rf"'pay', and are declared (with different |differently .*){other}"
    with pytest.raises(TypeError, match=told):
        driven(books.agent(**OTHERWISE[other]), ASKED, way)
    books.lost = False
    (answer,) = answers(driven(first, ASKED, way))

    assert books.paid == ["I-1"]
    assert answer["reason"] == "duplicate_write"


@pytest.mark.parametrize(
    "alike", [{}, {"cost": Decimal(1)}, {"result_id": "payment_id"}], ids=["same", "cost", "result"]
)
@pytest.mark.parametrize("way", WAYS)
def test_agents_whose_writes_are_one_thing_share_them(way: str, alike: dict[str, Any]) -> None:
    books = Books()
    books.lost = False
    driven(books.agent(CALL), ASKED, way)

    (answer,) = answers(driven(books.agent(AGAIN, **alike), ASKED, way))

    assert books.paid == ["I-1"]
    assert answer["reason"] == "duplicate_write"


def test_what_is_declared_for_an_agent_outweighs_what_its_breaker_says() -> None:
    books = Books()
    theirs = ToolSpec(name="pay", effect=Effect.WRITE, identity=("note",))
    own = ToolSpec(name="pay", effect=Effect.WRITE, identity=("invoice",))
    run = Breaker(specs={"pay": theirs}).run()

    for _ in range(2):
        guarded_tool_node(books.tools(), run, specs={"pay": own})

    assert run.declared("pay").identity == ("invoice",)


def test_each_agent_may_bring_its_own_reader_and_its_own_reads() -> None:
    books = Books()
    guarded_tool_node(books.tools(reconcile=lambda invoice: {}), books.run)

    @tool
    @tool_spec(effect="read", wording=("invoice",))
    def find(invoice: str) -> str:
        """Find something else."""
        return ""

    own = [books.tools(reconcile=lambda invoice: None)[0], find]

    assert set(guarded_tool_node(own, books.run).tools_by_name) == {"pay", "find"}
