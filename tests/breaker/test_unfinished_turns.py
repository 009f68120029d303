"""Calls that are still under way: the last of a turn says what the turn was, and none of them puts
a stop off for ever.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.timeline import CircuitOpened

from .driver import Driver, Mode, Outcome, Reason, Status, bare, ok, read

FETCH, LOOK, SEARCH = read("fetch", identity=("url",)), read("look"), read("search")
NUMBERS = itertools.count(1)
FAILURES = 5
EMPTIES = 6

BAD = Outcome(status=Status.DEFINITE, error="NotFound")
DENIED = Outcome(status=Status.DENIED, error="Denied", rule="robots")
ORDERS = list(itertools.permutations([BAD, BAD, ok("page")]))


def fetch(outcome: Outcome) -> tuple[Outcome, str, dict[str, Any]]:
    """A call about something that nobody has asked for yet."""
    return outcome, "fetch", {"url": f"https://site.org/{next(NUMBERS)}"}


def look(outcome: Outcome | None = None) -> tuple[Outcome, str, dict[str, Any]]:
    number = next(NUMBERS)
    return outcome or ok(f"text {number}"), "look", {"of": number}


def wrong(turns: int, driver: Driver | None = None) -> Driver:
    """A run whose tool was wrong in so many turns, while another went well."""
    driver = driver or Driver(FETCH, LOOK)
    for _ in range(turns):
        assert driver.together(fetch(BAD)) == [True]
        assert driver.together(look()) == [True]
    return driver


def goes_on(driver: Driver) -> bool:
    """Whether the tool may be called, without a call that would change anything."""
    call, verdict = driver.propose("fetch", url=f"https://site.org/{next(NUMBERS)}")
    if verdict.allowed:
        driver.run.withdraw(call)
    return verdict.allowed


# -- one tool


@pytest.mark.parametrize("order", ORDERS)
def test_tool_that_succeeds_in_the_fifth_turn_is_not_stopped(order: tuple[Outcome, ...]) -> None:
    driver = wrong(FAILURES - 1)

    assert driver.together(*map(fetch, order)) == [True] * 3

    assert driver.gives("page", "fetch", url="next")
    assert driver.is_open


def test_undeclared_tool_that_succeeds_in_the_fifth_turn_is_not_stopped() -> None:
    driver = wrong(FAILURES - 1, Driver(bare(FETCH), LOOK))

    assert driver.together(fetch(BAD), fetch(ok("page"))) == [True] * 2

    assert driver.gives("page", "fetch", url="next")
    assert driver.is_open


def test_sibling_that_is_proposed_late_runs_as_well() -> None:
    driver = wrong(FAILURES - 1)
    first, _ = driver.propose("fetch", url="first")
    second, _ = driver.propose("fetch", url="second")
    driver.settle(first, BAD)

    assert driver.gives("page", "fetch", url="third")

    driver.settle(second, ok("page"))
    assert driver.is_open


@pytest.mark.parametrize("many", [1, 2, 3])
def test_tool_of_which_all_siblings_fail_is_stopped_after_five_turns(many: int) -> None:
    driver = Driver(FETCH, LOOK)
    for _ in range(FAILURES):
        assert all(driver.together(*[fetch(BAD) for _ in range(many)]))
        assert driver.together(look()) == [True]

    assert driver.together(*[fetch(BAD) for _ in range(many)]) == [False] * many
    assert driver.reason is Reason.ERROR_STREAK
    assert driver.rests_on == ["fetch"] * FAILURES * many


def test_sibling_that_comes_back_last_in_each_turn_puts_the_stop_off_by_one_turn() -> None:
    driver = Driver(FETCH, LOOK)
    for _ in range(FAILURES + 1):
        assert driver.together(fetch(BAD), look()) == [True] * 2

    assert driver.together(fetch(BAD)) == [False]
    assert driver.reason is Reason.ERROR_STREAK


def test_sibling_that_never_comes_back_puts_the_stop_off_by_one_turn() -> None:
    driver = Driver(FETCH, LOOK)
    for _ in range(FAILURES + 1):
        driver.propose("look", of=next(NUMBERS))
        assert driver.together(fetch(BAD)) == [True]
        assert driver.together(look()) == [True]

    assert not goes_on(driver)
    assert driver.reason is Reason.ERROR_STREAK


@pytest.mark.parametrize("first", ["fetch", "look"])
def test_hint_comes_before_the_stop_whichever_sibling_comes_back_first(first: str) -> None:
    driver = Driver(FETCH, LOOK)
    for _ in range(FAILURES + 2):
        both = [fetch(BAD), look()]
        went = driver.together(*(both if first == "fetch" else reversed(both)))
    assert not all(went)

    (hint,) = filter(None, driver.hints)
    assert "etch failed whatever it was asked (4 times)" in hint


@pytest.mark.parametrize("good", [True, False])
def test_late_success_of_an_older_turn_takes_the_stop_back(good: bool) -> None:  # noqa: FBT001 - a parameter
    driver = Driver(FETCH, LOOK)
    slow, _ = driver.propose("fetch", url="slow")
    driver.together(look())
    wrong(FAILURES, driver)

    driver.settle(slow, ok("page") if good else BAD)

    assert goes_on(driver) is good


def test_success_of_another_tool_takes_no_stop_back() -> None:
    driver = Driver(FETCH, LOOK)
    slow, _ = driver.propose("look", of="slow")
    wrong(FAILURES, driver)

    driver.settle(slow, ok("text"))

    assert not goes_on(driver)


TURNS = st.lists(
    st.lists(st.sampled_from(["bad", "good", "look"]), min_size=1, max_size=4), max_size=24
)


@settings(max_examples=40)
@given(TURNS)
def test_tool_is_stopped_after_five_wrong_turns_or_six_and_never_before(
    turns: list[list[str]],
) -> None:
    driver, wrong_turns = Driver(FETCH, LOOK), 0
    make = {"bad": lambda: fetch(BAD), "good": lambda: fetch(ok(next(NUMBERS))), "look": look}
    for kinds in turns:
        assert all(driver.together(*[make[kind]() for kind in kinds]))
        assert driver.together(look()) == [True]
        if "good" in kinds:
            wrong_turns = 0
        elif "bad" in kinds:
            wrong_turns += 1
        if not goes_on(driver):
            assert wrong_turns in {FAILURES, FAILURES + 1}
            return
        # A call of another tool that comes back last puts it off by a turn.
        assert wrong_turns <= FAILURES


# -- the run


def test_run_is_stopped_though_a_denial_comes_back_last_in_each_turn() -> None:
    driver = Driver(FETCH, LOOK)

    went = [driver.together(fetch(BAD), look(DENIED)) for _ in range(FAILURES + 1)]

    assert went == [[True, True]] * (FAILURES + 1)
    assert driver.reason is Reason.ERROR_STREAK
    assert driver.run.mode is Mode.READ_ONLY


def test_run_of_which_a_sibling_succeeds_in_the_fifth_turn_is_not_stopped() -> None:
    driver = Driver(FETCH, LOOK)
    for _ in range(FAILURES - 1):
        driver.together(fetch(BAD))

    assert driver.together(fetch(BAD), look()) == [True] * 2

    assert driver.gives("page", "fetch", url="next")
    assert driver.is_open


# -- searches

GUESSES = (
    "refund",
    "money back",
    "reimburse customer",
    "compensation rules",
    "repay buyer",
    "credit a return",
)


def search(result: Any, query: str) -> tuple[Outcome, str, dict[str, Any]]:
    return ok(result), "search", {"query": query}


def guessed(turns: int) -> Driver:
    """A run that has found nothing in so many turns."""
    driver = Driver(SEARCH, LOOK)
    for query in GUESSES[:turns]:
        assert driver.together(search([], query)) == [True]
    return driver


@pytest.mark.parametrize("hit_comes", [0, 1])
def test_search_that_finds_something_in_the_sixth_turn_is_not_stopped(hit_comes: int) -> None:
    driver = guessed(EMPTIES - 1)
    calls = [search([], GUESSES[-1])]
    calls.insert(hit_comes, search(["faq"], "x y"))

    assert driver.together(*calls) == [True] * 2

    assert driver.gives(["terms"], "search", query="terms of sale")
    assert driver.is_open


def test_search_that_is_proposed_late_runs_as_well() -> None:
    driver = guessed(EMPTIES - 1)
    first, _ = driver.propose("search", query=GUESSES[-1])
    second, _ = driver.propose("search", query="x y")
    driver.settle(first, ok([]))

    assert driver.gives(["terms"], "search", query="terms of sale")

    driver.settle(second, ok(["faq"]))
    assert driver.is_open


def test_search_of_which_all_siblings_find_nothing_is_stopped_after_six_turns() -> None:
    driver = guessed(EMPTIES - 1)

    assert driver.together(search([], GUESSES[-1]), search([], "x y")) == [True] * 2

    assert not driver.gives([], "search", query="terms of sale")
    assert driver.reason is Reason.EMPTY_RESULTS


def test_hit_of_an_older_turn_takes_the_stop_of_searches_back() -> None:
    driver = Driver(SEARCH, LOOK)
    slow, _ = driver.propose("search", query="slow lane")
    driver.together(look())
    for query in GUESSES:
        driver.together(search([], query))

    driver.settle(slow, ok(["lane"]))

    assert driver.gives(["terms"], "search", query="terms of sale")
    assert driver.is_open


# -- the circuit of a tool

DOWN = Outcome(status=Status.TRANSIENT, error="Timeout")


def down(turns: int) -> Driver:
    """A run whose tool was down in so many turns, while another went well."""
    driver = Driver(FETCH, LOOK)
    for _ in range(turns):
        assert driver.together(fetch(DOWN)) == [True]
        assert driver.together(look()) == [True]
    return driver


@pytest.mark.parametrize("answer", [ok("page"), BAD, DENIED], ids=["ok", "definite", "denied"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_circuit_of_a_tool_that_answers_in_the_fifth_turn_never_opens(
    place: int, answer: Outcome
) -> None:
    driver = down(FAILURES - 1)
    calls = [fetch(DOWN), fetch(DOWN)]
    calls.insert(place, fetch(answer))

    assert driver.together(*calls) == [True] * 3

    assert driver.timeline.of(CircuitOpened) == ()
    assert driver.gives("page", "fetch", url="next")
    assert driver.is_open
    assert driver.reason is None


def test_sibling_that_is_proposed_late_is_not_refused_by_the_circuit() -> None:
    driver = down(FAILURES - 1)
    first, _ = driver.propose("fetch", url="first")
    second, _ = driver.propose("fetch", url="second")
    driver.settle(first, DOWN)

    assert driver.gives("page", "fetch", url="third")

    driver.settle(second, ok("page"))
    assert driver.is_open


@pytest.mark.parametrize("many", [1, 2, 6])
def test_circuit_of_a_tool_of_which_all_siblings_fail_opens_in_the_fifth_turn(many: int) -> None:
    driver = down(FAILURES - 1)

    assert driver.together(*[fetch(DOWN) for _ in range(many)]) == [True] * many

    (opened,) = driver.timeline.of(CircuitOpened)
    assert (opened.circuit, opened.errors) == ("fetch", FAILURES)
    assert driver.together(fetch(ok("page"))) == [False]
    assert driver.last.reason is Reason.CIRCUIT_OPEN
