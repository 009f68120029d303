"""A team's own tools play whole cases, whatever they are called and however they are declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import AMOUNT, NONCE, RESOURCE, WORDING, HarnessError, Role, Run
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.world import TARGET, Toolset
from pytest_tripwire.world.desk import SEARCH, WRITE
from pytest_tripwire.world.toolset import BindingError


def pay_back(order: str, cents: int, memo: str, idempotency_key: str, currency: str = "EUR") -> str:
    """A team's own refund."""
    raise AssertionError("its body never runs")


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "order": {"type": "string", "pattern": "^A-"},
        "total": {"type": "number", "minimum": 0.01},
        "memo": {"type": "string", "maxLength": 200},
        "key": {"type": "string", "minLength": 4},
        "currency": {"type": "string", "enum": ["EUR", "USD"]},
        "channel": {"const": "api"},
        "priority": {"type": "integer", "minimum": 3},
        "note": {"type": "string", "default": "none"},
        "team": {"type": "string", "examples": ["billing"]},
        "address": {"$ref": "#/$defs/address"},
    },
    "required": [
        "order", "total", "memo", "key", "currency", "channel", "priority", "note", "team",
        "address",
    ],
    "additionalProperties": False,
    "$defs": {
        "address": {
            "type": "object",
            "properties": {"country": {"type": "string", "enum": ["DE", "AT"]}},
            "required": ["country"],
        }
    },
}  # fmt: skip
ARGS = {"order": RESOURCE, "total": AMOUNT, "memo": WORDING, "key": NONCE}
OPENAI = {
    "type": "function",
    "function": {"name": "acme_refund", "description": "Refund.", "parameters": SCHEMA},
}
FLAT = {"type": "function", "name": "acme_refund", "description": "Refund.", "parameters": SCHEMA}
ANTHROPIC = {"name": "acme_refund", "description": "Refund.", "input_schema": SCHEMA}

CALLABLE = Role(
    pay_back,
    {"order": RESOURCE, "cents": AMOUNT, "memo": WORDING, "idempotency_key": NONCE},
)
SHAPES = {
    "callable": CALLABLE,
    "openai": Role(OPENAI, ARGS),
    "openai flat": Role(FLAT, ARGS),
    "anthropic": Role(ANTHROPIC, ARGS),
}
#: Cases whose tools a refund is one of.
PAYING = ("lost-write", "rephrased-denial", "deadline", "stale-resume", "empty-search")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("case_id", PAYING)
def test_own_tool_plays_a_whole_case(play: Callable[..., Run], case_id: str, shape: str) -> None:
    roles = {"write": SHAPES[shape]}

    run = play(case_id, roles=roles)
    own = play(case_id, roles=roles, protection="own")

    run.check()
    assert own.cell.state is State.ESCAPED
    name = "pay_back" if shape == "callable" else "acme_refund"
    assert name in own.timeline()
    assert "issue_refund" not in own.timeline()


def arguments(role: Role, **slots: Any) -> dict[str, Any]:
    toolset = Toolset(operations=(WRITE,), roles={"write": role}, stage=None)  # type: ignore[arg-type]
    return toolset.arguments("write", {"resource": "A-1", "amount": 40.0, **slots})


def test_required_arguments_that_nobody_names_are_filled_in() -> None:
    filled = arguments(SHAPES["openai"], wording="x", nonce="r-01")

    assert filled == {
        "order": "A-1",
        "total": 40.0,
        "memo": "x",
        "key": "r-01",
        "currency": "EUR",
        "channel": "api",
        "priority": 3,
        "note": "none",
        "team": "billing",
        "address": {"country": "DE"},
    }


def test_optional_arguments_are_left_out() -> None:
    assert "currency" not in arguments(CALLABLE, wording="x", nonce="r")


def test_arguments_come_in_the_order_of_the_slots() -> None:
    toolset = Toolset(operations=(WRITE,), roles={"write": CALLABLE}, stage=None)  # type: ignore[arg-type]

    forth = toolset.arguments("write", {"resource": "A-1", "amount": 40})
    back = toolset.arguments("write", {"amount": 40, "resource": "A-1"})

    assert list(forth)[:2] == ["order", "cents"]
    assert list(back)[:2] == ["cents", "order"]


def test_fixed_value_is_passed_as_it_stands() -> None:
    role = Role(OPENAI, {**ARGS, "currency": "USD", "team": "resource"})

    filled = arguments(role, wording="x", nonce="r-01")

    assert (filled["currency"], filled["team"]) == ("USD", "resource")


def test_result_in_the_teams_own_shape(play: Callable[..., Run]) -> None:
    seen: list[Any] = []
    role = Role(pay_back, CALLABLE.args, result=lambda result: seen.append(result) or {"ok": True})

    run = play("lost-write/definite-failure", roles={"write": role})

    run.check()
    assert seen[0]["refund_id"] == "R-A-1001-1"


def test_two_slots_may_carry_one_meaning() -> None:
    def refund(order: str, reference: str) -> None:
        """Refund."""

    role = Role(refund, {"order": RESOURCE, "reference": RESOURCE})

    assert arguments(role) == {"order": "A-1", "reference": "A-1"}


# -- what does not fit is said before anything runs


def mistaken(parameters: dict[str, Any], args: dict[str, Any]) -> Role:
    properties = {"about": {"type": "string"}, **parameters}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return Role({"name": "refund", "parameters": schema}, {"about": RESOURCE, **args})


ABOUT = {"type": "object", "properties": {"order": {"type": "string"}}}
TAGGED = {"type": "object", "properties": {"order": {"type": "string"}, "tags": {}}}
WRONG: dict[str, tuple[Role, str]] = {
    "type": (
        mistaken({"order": {"type": "integer"}}, {"order": RESOURCE}),
        "arguments.order is 'A-1001', and the schema wants integer",
    ),
    "enum": (
        mistaken({"order": {"type": "string", "enum": ["X"]}}, {"order": RESOURCE}),
        r"arguments.order is 'A-1001', and the schema allows \['X'\]",
    ),
    "maximum": (
        mistaken({"amount": {"type": "number", "maximum": 10}}, {"amount": AMOUNT}),
        "arguments.amount is 40.0, and the schema allows -inf to 10",
    ),
    "fixed value": (
        mistaken({"to": {"type": "string"}}, {"to": 7}),
        "arguments.to is 7, and the schema wants string",
    ),
    "pattern that nothing small satisfies": (
        mistaken({"order": {"type": "string", "pattern": "^R-"}}, {}),
        r"the schema wants the pattern \^R-",
    ),
    "endless schema": (
        mistaken({"order": {"$ref": "#/nowhere"}}, {}),
        "'order' cannot be filled in: .* leads nowhere",
    ),
    "no such argument": (
        Role(pay_back, {"order_id": RESOURCE}),
        "maps 'order_id', but pay_back takes order, cents",
    ),
    "no name": (Role({"parameters": {}}, {}), "give a function, or a tool definition with a name"),
    "no resource": (
        Role(pay_back, {"cents": AMOUNT}),
        "the role 'write' says of no argument that it is the RESOURCE",
    ),
    "a meaning in quotes": (
        Role(pay_back, {"order": "RESOURCE", "cents": AMOUNT}),
        "gives 'order' the fixed text 'RESOURCE'.* write RESOURCE.* without quotes",
    ),
    "no JSON for the last of several": (
        Role(
            ({"name": "refund", "parameters": ABOUT}, {"name": "credit", "parameters": TAGGED}),
            {"order": RESOURCE, "tags": {1, 2}},
        ),
        "the role 'write' cannot be played: .* not JSON serializable",
    ),
    "no JSON": (
        Role(pay_back, {**CALLABLE.args, "currency": {1, 2}}),
        "the role 'write'",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_said_before_the_run(play: Callable[..., Run], what: str) -> None:
    role, message = WRONG[what]
    with pytest.raises(HarnessError, match=message):
        play("lost-write", roles={"write": role})


def test_roles_of_the_second_call_are_tried_before_the_first(play: Callable[..., Run]) -> None:
    role, message = WRONG["enum"]
    with pytest.raises(HarnessError, match=message):
        play("stale-resume", roles={"write": role})


def test_roles_that_a_case_lacks_are_passed_over(play: Callable[..., Run]) -> None:
    for case_id in CASE_IDS:
        play(case_id, roles={"create": WRONG["enum"][0]})


def test_one_tool_cannot_play_two_roles() -> None:
    def do(topic: str) -> None:
        """Do."""

    roles = {"write": Role(do, {"topic": RESOURCE}), "search": Role(do, {"topic": TARGET})}
    with pytest.raises(BindingError, match="both played by a tool called 'do'"):
        Toolset(operations=(WRITE, SEARCH), roles=roles, stage=None)  # type: ignore[arg-type]
