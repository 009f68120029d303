"""A part that several tools play: the model calls the one that the request offers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import pytest

from pytest_tripwire.models import Calls, Move, Propose, Say, Seen
from pytest_tripwire.models.diagnosis import Kind, diagnose

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]

DOORS = ("to_till", "to_workshop")


class Troupe:
    """Hand-offs are played by two tools, what is looked for by one."""

    def tools_of(self, role: str) -> tuple[str, ...]:
        return DOORS if role == "handoff" else ("search_orders",)

    def tool_for(
        self, role: str, slots: Mapping[str, Any], offered: AbstractSet[str]
    ) -> str | None:
        there = [each for each in self.tools_of(role) if each in offered]
        return there[slots.get("target", 0) % len(there)] if there else None

    def arguments_for(self, role: str, slots: Mapping[str, Any], tool: str) -> dict[str, Any]:
        return {"by": tool}

    def tool_name(self, role: str) -> str:
        raise AssertionError(role)

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError(role, slots)

    def roads(self) -> tuple[str, ...]:
        return ()


def leaves(*targets: int) -> Move:
    proposals = tuple(Propose(role="handoff", slots={"target": each}) for each in targets)
    return Calls(proposals=proposals)


def to_and_fro(seen: Seen) -> Move:
    return leaves(seen.turn) if seen.turn < 4 else Say(text="Done.")


@pytest.fixture
def begin(run: Run) -> Run:
    """Starts a server whose parts are played by the troupe."""
    return lambda **options: run(**{"binder": Troupe(), "roles": ("handoff", "search"), **options})


def function(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


def offering(*names: str) -> list[dict[str, Any]]:
    return [function(name) for name in names]


def message_of(reply: tuple[int, Any]) -> dict[str, Any]:
    status, body = reply
    assert status == 200, body
    return dict(body["choices"][0]["message"])


def called(message: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    made = [each["function"] for each in message.get("tool_calls", ())]
    return [(each["name"], json.loads(each["arguments"])) for each in made]


def told(message: dict[str, Any]) -> list[dict[str, Any]]:
    made = message.get("tool_calls", ())
    results = ({"role": "tool", "tool_call_id": each["id"], "content": "ok"} for each in made)
    return [message, *results]


def test_the_model_calls_the_one_that_is_offered(begin: Run, ask: Body) -> None:
    running = begin(script=to_and_fro)
    history: list[dict[str, Any]] = []
    seen = []
    for offered in (DOORS, DOORS, DOORS[1:], DOORS[:1]):
        message = message_of(running.post(ask(*history, tools=offering(*offered))))
        seen += called(message)
        history += told(message)

    order = ("to_till", "to_workshop", "to_workshop", "to_till")
    assert seen == [(name, {"by": name}) for name in order]


def test_two_of_one_part_in_one_message_are_bound_each(begin: Run, ask: Body) -> None:
    running = begin(script=lambda _seen: leaves(0, 1))

    message = message_of(running.post(ask(tools=offering(*DOORS))))

    assert [name for name, _ in called(message)] == list(DOORS)


def test_the_one_that_the_request_names_is_called(begin: Run, ask: Body) -> None:
    running = begin(script=lambda _seen: leaves(0))
    named = {"type": "function", "function": {"name": "to_workshop"}}

    message = message_of(running.post(ask(tools=offering(*DOORS), tool_choice=named)))

    assert called(message) == [("to_workshop", {"by": "to_workshop"})]
    assert running.server.withheld == ()


def test_what_repeats_a_part_repeats_it_with_the_tool_that_is_named(begin: Run, ask: Body) -> None:
    running = begin(script=lambda _seen: Say(text="Done."))
    named = {"type": "function", "function": {"name": "to_workshop"}}

    message = message_of(running.post(ask(tools=offering(*DOORS), tool_choice=named)))

    assert called(message) == [("to_workshop", {"by": "to_workshop"})]


def test_all_of_them_are_named_where_none_is_offered(begin: Run, ask: Body) -> None:
    running = begin(script=to_and_fro)

    message = message_of(running.post(ask(tools=offering("search_orders"))))

    assert called(message) == []
    (withheld,) = running.server.withheld
    assert withheld.startswith("the script wants `to_till` or `to_workshop` (role `handoff`), but")
    (found,) = diagnose(running.server.noted)
    assert (found.kind, found.subject) == (Kind.WITHHELD_TOOL, "to_till, to_workshop")


def test_the_one_that_would_be_called_is_named_where_none_may_be(begin: Run, ask: Body) -> None:
    running = begin(script=to_and_fro)

    running.post(ask(tools=offering(*DOORS), tool_choice="none"))

    (withheld,) = running.server.withheld
    assert withheld.startswith("the script wants to call to_till, but")


def test_a_request_that_offers_any_of_them_is_the_scripts(begin: Run, ask: Body) -> None:
    running = begin(script=to_and_fro)

    running.post(ask(tools=offering("to_workshop")))

    assert [each.auxiliary for each in running.observed] == [False]
    assert [each.calls for each in running.observed] == [("to_workshop",)]


# -- routers, where hand-offs are no part of the case


class Passing(Troupe):
    """Knows doors that play no part."""

    def roads(self) -> tuple[str, ...]:
        return DOORS


def search_once(seen: Seen) -> Move:
    if seen.turn == 0:
        return Calls(proposals=(Propose(role="search"),))
    return Say(text=f"{len(seen.results)} found.")


@pytest.fixture
def router(run: Run) -> Run:
    """Starts a server that may meet a router on the way to what it looks for."""
    return lambda **options: run(
        **{"binder": Passing(), "roles": ("search",), "script": search_once, **options}
    )


def test_a_router_is_passed_and_the_script_begins_behind_it(router: Run, ask: Body) -> None:
    running = router()
    history: list[dict[str, Any]] = []
    seen: list[Any] = []
    for offered in (DOORS, DOORS[:1], ("search_orders", "to_till"), ("search_orders", "to_till")):
        message = message_of(running.post(ask(*history, tools=offering(*offered))))
        seen.append([name for name, _ in called(message)] or message["content"])
        history += told(message)

    # A door is taken once, and what a router is told is no move of the script's.
    assert seen == [["to_till"], "There is nothing more to do.", ["search_orders"], "1 found."]
    assert [each.auxiliary for each in running.observed] == [True, True, False, False]
    assert [each.turn for each in running.observed if not each.auxiliary] == [0, 1]


def test_each_door_is_tried_once(router: Run, ask: Body) -> None:
    running = router()
    history: list[dict[str, Any]] = []
    seen: list[Any] = []
    for _ in range(3):
        message = message_of(running.post(ask(*history, tools=offering(*DOORS))))
        seen.append([name for name, _ in called(message)])
        history += told(message)

    assert seen == [["to_till"], ["to_workshop"], []]
    (found,) = diagnose(running.server.noted)
    assert found.kind is Kind.AUXILIARY_ONLY


@pytest.mark.parametrize(
    ("choice", "taken"),
    [
        ("none", []),
        ("required", ["to_till"]),
        ({"type": "function", "function": {"name": "to_workshop"}}, ["to_workshop"]),
    ],
)
def test_a_router_is_passed_as_its_request_allows(
    router: Run, ask: Body, choice: Any, taken: list[str]
) -> None:
    message = message_of(router().post(ask(tools=offering(*DOORS), tool_choice=choice)))

    assert [name for name, _ in called(message)] == taken


def test_a_door_gets_the_least_that_its_schema_asks_for(router: Run, ask: Body) -> None:
    door = function("to_till")
    agents = {"type": "string", "enum": ["clerk", "smith"]}
    door["function"]["parameters"] = {
        "type": "object",
        "properties": {"agent": agents},
        "required": ["agent"],
    }

    message = message_of(router().post(ask(tools=[door])))

    assert called(message) == [("to_till", {"agent": "clerk"})]


def search_then_write(seen: Seen) -> Move:
    role = ("search", "write", "search")[min(seen.turn, 2)]
    if seen.turn == 3:
        return Say(text=f"{len(seen.all_results)} results, {len(seen.results)} of the last.")
    return Calls(proposals=(Propose(role=role),))


class Shop(Passing):
    def tools_of(self, role: str) -> tuple[str, ...]:
        return {"write": ("refund_order",), "search": ("search_orders",)}[role]


def test_an_agent_that_lacks_the_tool_of_a_move_is_passed_as_often_as_it_takes(
    router: Run, ask: Body
) -> None:
    running = router(binder=Shop(), script=search_then_write, roles=("search", "write"))
    clerk, smith = ("search_orders", "to_workshop"), ("refund_order", "to_till")
    history: list[dict[str, Any]] = []
    seen: list[Any] = []
    # All of one prompt, so that nothing but the tools tells the agents apart.
    for offered in (smith, clerk, clerk, smith, smith, clerk, clerk):
        message = message_of(running.post(ask(*history, tools=offering(*offered))))
        seen += [name for name, _ in called(message)] or [message["content"]]
        history += told(message)

    work = ["to_till", "search_orders", "to_workshop", "refund_order", "to_till", "search_orders"]
    assert seen == [*work, "3 results, 1 of the last."]
    observed = [each for each in running.observed if not each.auxiliary]
    assert [each.turn for each in observed] == [0, 1, 2, 3]
    assert diagnose(running.server.noted) == ()


def test_an_agent_that_is_passed_after_its_work_has_dropped_no_tools(
    router: Run, ask: Body
) -> None:
    running = router(binder=Shop(), script=search_then_write, roles=("search", "write"))
    clerk, smith = ("search_orders", "to_workshop"), ("refund_order", "to_till")
    history: list[dict[str, Any]] = []
    for offered in (clerk, clerk, smith):
        body = ask(*history, tools=offering(*offered))
        body["messages"][0]["content"] = f"You have {offered}."
        history += told(message_of(running.post(body)))

    assert [each["role"] for each in history] == ["assistant", "tool"] * 3
    assert diagnose(running.server.noted) == ()
