"""Hand-offs: a hub and its specialists, chains, and the rings that look like them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Usage

from .driver import Driver, Reason, ToolSpec, handoff, read, write

PAY, LOOK = write("pay", identity=("key",)), read("look", identity=("key",))
USAGE = Usage()
NAMES = ("hub", *"abcdefgh")


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """How agents hand over here.

    Args:
        specs: the tools that they do it with.
        tool: the tool for one colleague.
        names: whether the breaker is told who hands over.
        field: the argument that names a colleague; empty where the tool does.
    """

    specs: tuple[ToolSpec, ...]
    tool: str = "transfer_to_{}"
    names: bool = True
    field: str = ""

    def driver(self) -> Driver:
        return Driver(*self.specs, PAY, LOOK)

    def hands(self, driver: Driver, by: str, to: str, **said: Any) -> bool:
        named = {self.field: to, **said} if self.field else said
        tool = self.tool.format(to)
        return (
            driver.by(by, "ok", tool, **named) if self.names else driver.gives("ok", tool, **named)
        )


def each(**declared: Any) -> tuple[ToolSpec, ...]:
    return tuple(handoff(f"transfer_to_{name}", **declared) for name in NAMES)


KINDS = {
    "a tool for each": Desk(specs=each(identity=())),
    "tools of one operation": Desk(specs=each(identity=(), operation="handoff")),
    "nothing declared": Desk(specs=each()),
    "words declared": Desk(specs=each(identity=(), operation="handoff", wording=("note",))),
    "one tool": Desk(
        specs=(handoff("transfer", identity=(), operation="handoff"),), tool="transfer", field="to"
    ),
    "one tool, declared": Desk(
        specs=(handoff("transfer", identity=("to",), wording=("note",)),),
        tool="transfer",
        field="to",
    ),
}
DESKS = [
    pytest.param(msgspec.structs.replace(desk, names=names), id=f"{kind}, names {names}")
    for kind, desk in KINDS.items()
    for names in (True, False)
]
desks = pytest.mark.parametrize("desk", DESKS)


def passed(desk: Desk, driver: Driver, route: Iterable[str], **said: Any) -> int:
    """Hand a task along a route of agents; how many hand-offs are let through."""
    ways = itertools.pairwise(route)
    steps = itertools.takewhile(bool, (desk.hands(driver, by, to, **said) for by, to in ways))
    return sum(steps)


def hinted(driver: Driver) -> bool:
    return any(driver.hints)


def round_the_hub(names: Iterable[str]) -> list[str]:
    return ["hub", *(place for name in names for place in (name, "hub"))]


# -- good work


@desks
def test_a_hub_goes_to_one_specialist_after_another_and_they_only_talk(desk: Desk) -> None:
    driver = desk.driver()

    assert passed(desk, driver, round_the_hub("abcdefgh")) == 16
    assert driver.is_open
    assert not hinted(driver)


@desks
def test_a_chain_of_colleagues(desk: Desk) -> None:
    driver = desk.driver()

    assert passed(desk, driver, "abcdefgh") == 7
    assert driver.is_open
    assert not hinted(driver)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=20), st.sampled_from(list(KINDS)))
def test_whatever_way_is_gone_for_the_first_time_is_let_through(
    places: list[str], kind: str
) -> None:
    ways = dict.fromkeys((by, to) for by, to in itertools.pairwise(places) if by != to)
    desk = KINDS[kind]
    driver = desk.driver()

    for by, to in ways:
        assert desk.hands(driver, by, to), driver.reason
    assert not hinted(driver)


@desks
def test_a_hub_that_was_handed_the_task_itself(desk: Desk) -> None:
    driver = desk.driver()

    assert passed(desk, driver, ["h", *round_the_hub("abcdefg")]) == 15
    assert driver.is_open


@desks
def test_a_chain_that_hands_back_all_the_way(desk: Desk) -> None:
    driver = desk.driver()

    assert passed(desk, driver, "abcdefghgfedcba") == 14
    assert driver.is_open


def test_a_first_visit_is_progress_for_what_is_said_again() -> None:
    desk = KINDS["tools of one operation"]
    driver = desk.driver()

    for by, to in itertools.pairwise(round_the_hub("abcd")):
        driver.run.before_model()
        driver.run.after_model(USAGE, "No issues found.")
        assert desk.hands(driver, by, to), driver.reason


# -- rings


@desks
@pytest.mark.parametrize("size", range(2, 9))
def test_a_ring_without_words_stops_at_the_second_way_that_is_gone_again(
    desk: Desk, size: int
) -> None:
    driver = desk.driver()

    assert passed(desk, driver, itertools.cycle(NAMES[:size])) == size + 2
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


@desks
def test_a_hub_that_begins_its_second_round_is_a_ring(desk: Desk) -> None:
    driver = desk.driver()

    assert passed(desk, driver, round_the_hub("abcabc")) == 8
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


@desks
def test_a_hub_and_one_specialist_that_only_talk_are_a_ring(desk: Desk) -> None:
    driver = desk.driver()

    assert passed(desk, driver, itertools.cycle(["hub", "a"])) == 4


@desks
def test_a_task_that_is_handed_to_whoever_has_it_does_not_move(desk: Desk) -> None:
    driver = desk.driver()

    # A name tells that it was never handed over this way; without one, it did not move.
    assert passed(desk, driver, ["hub", "a", *"bbbbbbb"]) == (5 if desk.names else 4)
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


def in_new_words(desk: Desk, name: str) -> int:
    driver = desk.driver()
    ways = itertools.pairwise(itertools.cycle(["hub", "a"]))
    words = (f"you have this now, number {number}" for number in itertools.count())
    return sum(
        itertools.takewhile(
            bool,
            (
                desk.hands(driver, by, to, **{name: said})
                for (by, to), said in zip(ways, words, strict=False)
            ),
        )
    )


@pytest.mark.parametrize(
    ("kind", "name", "limit"),
    [
        ("tools of one operation", "message", 4),
        ("a tool for each", "message", 4),
        ("one tool", "message", 4),
        ("tools of one operation", "reason", 3),
        ("one tool", "reason", 3),
        ("words declared", "note", 3),
        ("one tool, declared", "note", 3),
    ],
)
def test_new_words_are_words_and_no_echo(kind: str, name: str, limit: int) -> None:
    assert in_new_words(KINDS[kind], name) == 2 + limit


# -- work in between


def visit(driver: Driver, name: str, *work: tuple[ToolSpec, str]) -> bool:
    """The hub hands over, the specialist works and hands back; whether all was let through."""
    desk = KINDS["a tool for each"]
    there = desk.hands(driver, "hub", name)
    done = all(driver.by(name, f"{tool.name} {key}", tool.name, key=key) for tool, key in work)
    return there and done and desk.hands(driver, name, "hub")


@pytest.mark.parametrize("tool", [PAY, LOOK], ids=lambda tool: tool.name)
@pytest.mark.parametrize("names", ["a", "ab", "abc"])
def test_specialists_that_do_something_new_each_time_are_gone_back_to(
    names: str, tool: ToolSpec
) -> None:
    driver = KINDS["a tool for each"].driver()

    for turn in range(6):
        for name in names:
            assert visit(driver, name, (tool, f"{name}{turn}")), driver.reason
    assert not hinted(driver)


def test_a_specialist_that_does_nothing_new_is_not_gone_back_to_for_ever() -> None:
    driver = KINDS["a tool for each"].driver()
    visits = 0

    assert visit(driver, "a", (PAY, "first"))
    while visits < 10 and visit(driver, "a"):
        visits += 1

    assert visits < 3
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


def test_looking_at_the_same_again_is_no_work() -> None:
    driver = KINDS["a tool for each"].driver()
    visits = 0

    while visits < 10 and visit(driver, "a", (LOOK, "same")):
        visits += 1

    assert visits < 4
