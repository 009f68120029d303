"""Several tools that play one part, and hand-offs that say nothing but where they lead."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pytest_tripwire.timeline import Dispatch, ToolSpec
from pytest_tripwire.world import (
    AMOUNT,
    DETAIL,
    RESOURCE,
    TARGET,
    WORDING,
    BindingError,
    Role,
    Toolset,
    tool_names,
)
from pytest_tripwire.world.desk import HANDOFF, SEARCH, WRITE

Make = Callable[..., Any]


def to_till() -> None:
    """Pass on to the till."""


def to_workshop() -> None:
    """Pass on to the workshop."""


def to_office(reason: str, known: str = "") -> None:
    """Pass on to the office."""


def pass_on(colleague: str) -> None:
    """Pass on to a colleague."""


def by_card(order: str, cents: int) -> None:
    """Pay back by card."""


def by_bank(order: str, euros: int) -> None:
    """Pay back by bank."""


THREE = (to_till, to_workshop, to_office)
SAYS = {"reason": WORDING, "known": DETAIL}
SLOTS = {TARGET: "billing", RESOURCE: "A-1", WORDING: "please", DETAIL: "it is late"}


@pytest.fixture
def toolset(world: Make) -> Callable[..., Toolset]:
    def make(roles: Mapping[str, Role], there: Any = None) -> Toolset:
        stage = (there or world()).stage
        return Toolset(operations=(HANDOFF, WRITE), roles=roles, stage=stage)

    return make


def test_every_tool_of_a_part_is_there_with_its_own_arguments(toolset: Make) -> None:
    tools = toolset({"handoff": Role(list(THREE), SAYS)})

    assert tools.tools_of("handoff") == ("to_till", "to_workshop", "to_office")
    assert list(tools.functions) == [*tools.tools_of("handoff"), "issue_refund"]
    assert [each["name"] for each in tools.schemas()] == list(tools.functions)
    assert tools.arguments_for("handoff", SLOTS, "to_till") == {}
    given = tools.arguments_for("handoff", SLOTS, "to_office")
    assert given == {"reason": "please", "known": "it is late"}
    tools.check("handoff", SLOTS)


def test_targets_prefer_tools_of_their_own_and_take_what_is_offered(toolset: Make) -> None:
    tools = toolset({"handoff": Role(THREE, SAYS)})
    every = frozenset(tools.functions)

    def chosen(target: str, offered: frozenset[str]) -> Any:
        return tools.tool_for("handoff", {TARGET: target}, offered)

    assert [chosen(target, every) for target in ("billing", "shipping")] == [
        "to_till",
        "to_workshop",
    ]
    late = every - {"to_till"}
    assert [chosen(target, late) for target in ("billing", "shipping")] == [
        "to_workshop",
        "to_office",
    ]
    assert {chosen(each, frozenset({"to_office"})) for each in ("billing", "anybody")} == {
        "to_office"
    }
    assert chosen("billing", frozenset({"issue_refund"})) is None


def test_a_hand_off_that_names_nothing_is_about_the_task(world: Make, toolset: Make) -> None:
    there = world()
    tools = toolset({"handoff": Role((to_till, pass_on), {"colleague": TARGET})}, there)

    tools.functions["to_till"]()
    tools.functions["pass_on"](colleague="workshop")

    seen = [each for each in there.told() if isinstance(each, Dispatch)]
    assert [(each.tool, each.role, each.resource) for each in seen] == [
        ("to_till", "handoff", "task"),
        ("pass_on", "handoff", "task"),
    ]


def test_hand_offs_are_declared_by_where_they_lead(toolset: Make) -> None:
    specs: dict[str, ToolSpec] = toolset(
        {"handoff": Role((*THREE, pass_on), {**SAYS, "colleague": TARGET})}
    ).specs()

    # One after the other is a chain, and no going round; only a second time of one is.
    assert len({specs[each.__name__].kind for each in THREE}) == 3
    assert specs["to_office"].wording == ("reason",)
    assert specs["to_office"].required_fields == ("known",)
    assert specs["to_till"].identity == ()
    assert (specs["pass_on"].kind, specs["pass_on"].identity) == ("handoff", ("colleague",))
    assert toolset({"handoff": Role(to_till)}).specs()["to_till"].kind == "handoff"


def test_several_tools_for_one_write_are_one_operation(toolset: Make) -> None:
    means = {"order": RESOURCE, "cents": AMOUNT, "euros": AMOUNT}
    tools = toolset({"write": Role((by_card, by_bank), means)})

    specs = tools.specs()
    assert specs["by_card"].kind == specs["by_bank"].kind == "refund"
    given = tools.arguments_for("write", {RESOURCE: "A-1", AMOUNT: 40}, "by_bank")
    assert given == {"order": "A-1", "euros": 40}


def test_names_of_all_of_them_are_known() -> None:
    roles = {"handoff": Role((to_till, to_workshop))}

    assert tool_names(roles, (HANDOFF, WRITE)) == {"to_till", "to_workshop", "issue_refund"}


def test_hand_offs_that_are_no_part_of_the_case_are_roads(world: Make) -> None:
    roles = {
        "handoff": Role((to_till, to_workshop)),
        "search": Role(to_office, {"known": RESOURCE}),
    }

    def roads(*operations: Any) -> tuple[str, ...]:
        return Toolset(
            operations=operations, roles=roles, stage=world().stage, elsewhere=(SEARCH, HANDOFF)
        ).roads()

    assert roads(WRITE) == ("to_till", "to_workshop")
    assert roads(WRITE, HANDOFF) == ()


def test_a_fixed_value_is_no_meaning(world: Make) -> None:
    def find(topic: str, filters: list[str]) -> None:
        """Search."""

    there = world()
    role = Role(find, {"topic": RESOURCE, "filters": ["new"]})
    tools = Toolset(operations=(SEARCH,), roles={"search": role}, stage=there.stage)

    tools.functions["find"](topic="lamps", filters=["new"])

    assert [type(each) for each in there.told()][:1] == [Dispatch]


# -- what does not fit


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"handoff": Role(())}, "tripwire_tools['handoff'] has no tool: give one"),
        (
            {"handoff": Role((to_till, to_till))},
            "the role 'handoff' has two tools called 'to_till'",
        ),
        (
            {"handoff": Role((to_till, to_office), {"why": WORDING})},
            "maps 'why', but to_till takes no arguments; to_office takes reason, known",
        ),
        (
            {"handoff": Role((to_till, to_office), {"reason": WORDING})},
            "If none does, as it is about the task as a whole, say what these are: known",
        ),
        (
            {"write": Role((by_card, to_till), {"order": RESOURCE, "cents": AMOUNT})},
            "the role 'write' says of no argument that it is the RESOURCE: map the one that",
        ),
    ],
)
def test_roles_that_do_not_fit(toolset: Make, roles: Any, message: str) -> None:
    with pytest.raises(BindingError) as raised:
        toolset(roles)

    assert message in str(raised.value)


def test_what_tells_good_work_from_going_round_has_to_get_through(toolset: Make) -> None:
    mute = toolset({"handoff": Role((to_till, to_workshop))})

    mute.check("handoff", {**SLOTS, DETAIL: ""})
    with pytest.raises(BindingError) as raised:
        mute.check("handoff", SLOTS)

    assert str(raised.value) == (
        "this case is about what 'handoff' tells, and no argument of to_till, to_workshop is the "
        "DETAIL: without one it cannot be played. Map one, or leave the case out"
    )
    # One that can carry it is enough.
    toolset({"handoff": Role((to_till, to_office), SAYS)}).check("handoff", SLOTS)
