"""A team's tools, played by the world."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_tripwire.timeline import Dispatch, Effect, ToolSpec
from pytest_tripwire.world import (
    AMOUNT,
    NONCE,
    RESOURCE,
    WORDING,
    BindingError,
    Role,
    Toolset,
    check_roles,
    tool_names,
)
from pytest_tripwire.world.desk import STATUS, WRITE
from pytest_tripwire.world.faults import PolicyDeniedError
from pytest_tripwire.world.toolset import NOTHING_HAPPENED

Make = Callable[..., Any]


def credit(order: str, cents: float, *, note: str = "", request: str = "none") -> dict[str, Any]:
    """Pay a customer back."""
    raise AssertionError(order, cents, note, request)


async def credit_soon(order: str, cents: float) -> dict[str, Any]:
    """Pay a customer back, soon."""
    raise AssertionError(order, cents)


ARGS = {"order": RESOURCE, "cents": AMOUNT, "note": WORDING, "request": NONCE}


@pytest.fixture
def toolset(world: Make) -> Callable[..., Toolset]:
    def make(roles: Mapping[str, Any] = {}, there: Any = None) -> Toolset:
        stage = (there or world()).stage
        return Toolset(operations=(WRITE, STATUS), roles=roles, stage=stage)

    return make


def test_the_worlds_own_tools_play_what_a_team_leaves_out(
    toolset: Callable[..., Toolset],
) -> None:
    tools = toolset({"write": Role(credit, ARGS)})

    assert list(tools.functions) == ["credit", "get_refund"]
    assert [tools.tool_name(role) for role in ("write", "status")] == ["credit", "get_refund"]


def test_a_played_tool_looks_like_the_teams_and_acts_on_the_world(
    world: Make, toolset: Callable[..., Toolset]
) -> None:
    there = world()
    played = toolset({"write": Role(credit, ARGS)}, there).functions["credit"]

    assert played.__name__ == "credit"
    assert played.__doc__ == "Pay a customer back."
    assert inspect.signature(played) == inspect.signature(credit)
    # The body must not be reached through the wrapper either.
    assert inspect.unwrap(played) is played
    assert played("A-1", cents=40)["refund_id"] == "R-A-1-1"
    assert there.records.get("order A-1").fields["refunds"] == [40]


def test_an_async_tool_is_played_by_an_async_one(toolset: Callable[..., Toolset]) -> None:
    role = Role(credit_soon, {"order": RESOURCE, "cents": AMOUNT})
    played = toolset({"write": role}).functions["credit_soon"]

    assert inspect.iscoroutinefunction(played)
    coroutine = played("A-1", 40)
    with pytest.raises(StopIteration) as stopped:
        coroutine.send(None)
    assert stopped.value.value["refund_id"] == "R-A-1-1"


def test_a_played_tool_is_staged(world: Make, toolset: Callable[..., Toolset]) -> None:
    there = world()
    played: Any = toolset({"write": Role(credit, ARGS)}, there).functions["credit"]

    rest = played.start("A-1", 40)

    assert [type(each) for each in there.told()] == [Dispatch]
    assert rest()["amount"] == 40


def test_a_call_that_the_signature_refuses_reaches_nothing(
    world: Make, toolset: Callable[..., Toolset]
) -> None:
    there = world()
    with pytest.raises(TypeError, match="missing a required argument: 'cents'"):
        toolset({"write": Role(credit, ARGS)}, there).functions["credit"]("A-1")
    assert there.told() == ()


def test_results_take_the_shape_of_the_team(toolset: Callable[..., Toolset]) -> None:
    role = Role(credit, ARGS, lambda result: ["credited", result["refund_id"]])
    tools = toolset({"write": role})

    assert tools.functions["credit"]("A-1", 40) == ["credited", "R-A-1-1"]
    # The id may be anywhere in such a shape, so it is not declared.
    assert tools.specs()["credit"].result_id is None


def test_roles_are_declared_in_the_breakers_terms(toolset: Callable[..., Toolset]) -> None:
    assert toolset({"write": Role(credit, ARGS)}).specs() == {
        "credit": ToolSpec(
            name="credit",
            effect=Effect.WRITE,
            operation="refund",
            identity=("order",),
            wording=("note",),
            volatile=("request",),
            result_id="refund_id",
            definite_failures=NOTHING_HAPPENED,
            denials=(PolicyDeniedError,),
        ),
        "get_refund": ToolSpec(
            name="get_refund",
            effect=Effect.READ,
            operation="refund_status",
            identity=("order_id",),
            definite_failures=NOTHING_HAPPENED,
            denials=(PolicyDeniedError,),
        ),
    }


def test_slots_become_arguments_and_fixed_values_stay(toolset: Callable[..., Toolset]) -> None:
    tools = toolset({"write": Role(credit, {**ARGS, "note": "resource"})})

    given = tools.arguments("write", {RESOURCE: "A-1", AMOUNT: 40, WORDING: "unheard"})

    # "resource" is a text here, though a slot has that value too.
    assert given == {"order": "A-1", "cents": 40, "note": "resource"}


def test_schemas_name_and_describe_each_tool(toolset: Callable[..., Toolset]) -> None:
    first, second = toolset({"write": Role(credit, ARGS)}).schemas()

    assert (first["name"], first["description"]) == ("credit", "Pay a customer back.")
    assert (second["name"], list(second["parameters"]["properties"])) == (
        "get_refund",
        ["order_id"],
    )


def test_what_a_role_does_not_map_gets_the_least_value(toolset: Callable[..., Toolset]) -> None:
    tools = toolset({"write": Role(credit, {"order": RESOURCE})})

    # What has a default is left out.
    assert tools.arguments("write", {RESOURCE: "A-1", AMOUNT: 40}) == {"order": "A-1", "cents": 0}
    tools.check("write", {RESOURCE: "A-1", AMOUNT: 40})


ENDLESS = {
    "name": "credit",
    "parameters": {
        "type": "object",
        "properties": {"about": {"type": "string"}, "order": {"$ref": "#/$defs/order"}},
        "required": ["order"],
        "$defs": {
            "order": {
                "type": "object",
                "properties": {"of": {"$ref": "#/$defs/order"}},
                "required": ["of"],
            }
        },
    },
}


def test_what_has_no_least_value_is_refused(toolset: Callable[..., Toolset]) -> None:
    tools = toolset({"write": Role(ENDLESS, {"about": RESOURCE})})

    with pytest.raises(BindingError, match="'order' cannot be filled in: the schema asks for a"):
        tools.arguments("write", {RESOURCE: "A-1"})


def test_a_slot_that_the_schema_does_not_take_is_refused(toolset: Callable[..., Toolset]) -> None:
    tools = toolset({"write": Role(credit, {**ARGS, "cents": WORDING})})

    with pytest.raises(BindingError) as raised:
        tools.check("write", {RESOURCE: "A-1", WORDING: "sent back"})

    assert str(raised.value) == (
        "the role 'write' calls credit, but arguments.cents is 'sent back', and the schema wants "
        "number. Give that argument a meaning or a fixed value in the role's args"
    )


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (
            {"refund": Role(credit, ARGS)},
            "tripwire_tools names the role 'refund'; the roles are write, status",
        ),
        ({"write": credit}, "give a Role"),
        ({"write": None}, "give a Role"),
    ],
)
def test_what_is_no_role_and_what_plays_no_part(roles: dict[str, Any], message: str) -> None:
    with pytest.raises(BindingError) as raised:
        check_roles(roles, (WRITE, STATUS))

    assert message in str(raised.value)


def test_names_of_the_tools_that_play_parts() -> None:
    assert tool_names({}, (WRITE, STATUS)) == {"issue_refund", "get_refund"}
    assert tool_names({"write": Role(credit, ARGS)}, (WRITE, STATUS)) == {"credit", "get_refund"}
    with pytest.raises(BindingError, match="has the tool 'credit': give a function"):
        tool_names({"write": Role("credit")}, (WRITE, STATUS))  # type: ignore[arg-type]


def no_arguments() -> None:
    """Take nothing."""


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"write": Role("credit")}, "has the tool 'credit': give a function"),  # type: ignore[arg-type]
        ({"write": Role(functools.partial(credit))}, "give a function"),
        ({"write": Role(credit, {**ARGS, "memo": WORDING})}, "maps 'memo', but credit takes order"),
        ({"status": Role(no_arguments, {"x": 1})}, "but no_arguments takes no arguments"),
        (
            {"write": Role(credit, ARGS), "status": Role(credit, ARGS)},
            "'write' and 'status' are both played by a tool called 'credit'",
        ),
    ],
)
def test_roles_that_do_not_fit(
    toolset: Callable[..., Toolset], roles: dict[str, Any], message: str
) -> None:
    with pytest.raises(BindingError) as raised:
        toolset(roles)

    assert message in str(raised.value)


def test_what_a_tool_takes_besides_need_not_be_mapped(toolset: Callable[..., Toolset]) -> None:
    def open_ended(order: str, *rest: str, **more: str) -> None:
        """Take anything."""

    tools = toolset({"status": Role(open_ended, {"order": RESOURCE})})

    assert tools.functions["open_ended"]("A-1", "x", y="z")["order_id"] == "A-1"
