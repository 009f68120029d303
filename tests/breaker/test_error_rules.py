"""Errors in a row, errors of one tool, and one error that comes back whatever is done about it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import RunBudget

from .driver import (
    Decision,
    Driver,
    Mode,
    Outcome,
    Reason,
    Status,
    ToolSpec,
    bare,
    ok,
    read,
    stepped,
    write,
)

FETCH = read("fetch", identity=("url",))
FETCHES = pytest.mark.parametrize("spec", [FETCH, bare(FETCH)], ids=["declared", "undeclared"])
TOOLS = (read("test", identity=("path",)), write("edit", identity=("path",)), read("look"))
RUNS = pytest.mark.parametrize(
    "specs", [TOOLS, tuple(map(bare, TOOLS))], ids=["declared", "undeclared"]
)


def bad(error: str = "NotFound", status: Status = Status.DEFINITE) -> Outcome:
    return Outcome(status=status, error=error)


def fails(
    driver: Driver, errors: Iterable[str], status: Status = Status.DEFINITE, *, site: int = 0
) -> int:
    """One thing after another is fetched and fails; returns how many calls were let through."""
    return stepped(
        driver.fails(status, error, "fetch", url=f"https://site{site}.org/{number}")
        for number, error in enumerate(errors)
    )


# -- one thing after another


@FETCHES
@pytest.mark.parametrize("status", [Status.DEFINITE, Status.TRANSIENT, Status.UNKNOWN])
def test_sixth_is_not_tried_after_five_errors_in_a_row(spec: ToolSpec, status: Status) -> None:
    driver = Driver(spec)

    assert fails(driver, (f"Error{number}" for number in range(20)), status) == 5
    assert driver.reason is Reason.ERROR_STREAK
    assert driver.rests_on == ["fetch"] * 5
    assert driver.last.decision is Decision.INTERRUPT


def test_errors_of_different_tools_are_one_streak() -> None:
    driver = Driver(FETCH, read("look"))
    tools = ["fetch", "look", "look", "fetch", "look", "fetch"]

    assert (
        stepped(driver.fails(Status.DEFINITE, "X", t, url=str(n)) for n, t in enumerate(tools)) == 5
    )
    assert driver.rests_on == tools[:5]


@FETCHES
def test_one_success_ends_the_streak(spec: ToolSpec) -> None:
    driver = Driver(spec)

    for number in range(4):
        assert fails(driver, ["A", "B", "C", "D"], site=number) == 4
        assert driver.gives(f"page {number}", "fetch", url=f"https://b.org/{number}")
    assert driver.is_open


def test_limit_of_ones_own() -> None:
    driver = Driver(FETCH, budget=RunBudget(max_consecutive_errors=2))

    assert fails(driver, "ABCDEF") == 2


def test_failure_beside_a_success_is_no_beginning_of_a_streak() -> None:
    driver = Driver(FETCH)
    both = [(ok("page"), "fetch", {"url": "v"}), (bad("E"), "fetch", {"url": "w"})]

    assert driver.together(*both) == [True, True]
    assert fails(driver, "ABCD") == 4
    assert driver.is_open


def test_denied_read_after_four_errors_says_nothing_of_them() -> None:
    driver = Driver(FETCH)
    fails(driver, "ABCD")
    assert driver.hints[-1] is not None

    assert driver.denies("robots", "fetch", url="u")
    assert driver.hints[-1] is None


def test_denied_reads_are_no_errors() -> None:
    driver = Driver(FETCH)

    assert all(driver.denies("robots", "fetch", url=f"u{number}") for number in range(12))
    assert driver.is_open


# -- side by side


@FETCHES
def test_five_that_fail_together_are_one_failure(spec: ToolSpec) -> None:
    driver = Driver(spec)

    for turn in range(4):
        calls = [(bad(f"E{n}"), "fetch", {"url": f"u{turn}-{n}"}) for n in range(5)]
        assert all(driver.together(*calls))
    assert driver.is_open
    assert driver.together((bad(), "fetch", {"url": "last"})) == [True]
    assert driver.reason is Reason.ERROR_STREAK


@FETCHES
def test_batch_of_which_one_succeeds_is_no_error(spec: ToolSpec) -> None:
    driver = Driver(spec)

    for turn in range(12):
        calls = [(bad(f"E{n}"), "fetch", {"url": f"u{turn}-{n}"}) for n in range(4)]
        good = (ok(f"page {turn}"), "fetch", {"url": f"v{turn}"})
        assert all(driver.together(*calls[: turn % 5], good, *calls[turn % 5 :]))
    assert driver.is_open


@RUNS
def test_five_reads_side_by_side_at_the_start(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)
    calls = [(bad("NotFound"), "look", {"path": f"file{n}.py"}) for n in range(5)]

    assert driver.together(*calls) == [True] * 5
    assert driver.gives("text", "look", path="src/file.py")
    assert driver.is_open


def test_siblings_of_a_told_turn_count_once_even_one_after_another() -> None:
    driver = Driver(FETCH)

    for turn in range(4):
        assert driver.run.before_model().allowed
        for number in range(4):
            assert driver.fails(Status.DEFINITE, f"E{number}", "fetch", url=f"u{turn}-{number}")
    assert driver.is_open


# -- one tool


@pytest.mark.parametrize("declared", [True, False])
def test_tool_that_is_wrong_whatever_it_is_asked(declared: bool) -> None:  # noqa: FBT001 - a parameter
    specs = (FETCH, read("look"))
    driver = Driver(*(specs if declared else map(bare, specs)))
    for number in range(5):
        assert driver.fails(Status.DEFINITE, f"Bad{number}", "fetch", url=f"u{number}")
        assert driver.gives(number, "look", of=number)

    assert driver.gives("more", "look", of="more"), "other tools may go on"
    assert driver.run.mode is Mode.OPEN
    assert not driver.gives("page", "fetch", url="u9")
    assert driver.last.reason is Reason.ERROR_STREAK
    assert driver.rests_on == ["fetch"] * 5
    assert "etch failed whatever it was asked (5 times)" in driver.last.message


def test_success_of_the_tool_forgives_it() -> None:
    driver = Driver(FETCH, read("look"))
    for number in range(20):
        if number % 5 == 4:
            assert driver.gives(number, "fetch", url=f"v{number}")
        else:
            assert driver.fails(Status.DEFINITE, "Bad", "fetch", url=f"u{number}")
        assert driver.gives(number, "look", of=number)
    assert driver.is_open


def test_write_of_something_new_forgives_a_tool() -> None:
    driver = Driver(*TOOLS)
    for number in range(20):
        for half in range(2):
            path = f"p{number}-{half}"
            assert driver.fails(Status.DEFINITE, f"Bad{number}", "look", path=path)
        assert driver.gives("ok", "edit", path="a.py", text=f"t{number}")
    assert driver.is_open


# -- one error


@RUNS
def test_check_that_says_the_same_after_five_edits(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    def cycle(number: int) -> bool:
        checked = driver.fails(Status.DEFINITE, "1 failed: total", "test", path="t")
        return checked and driver.gives("ok", "edit", path="a.py", text=f"try {number}")

    assert driver.executed(lambda n=n: cycle(n) for n in range(20)) == 4
    assert driver.reason is Reason.ERROR_STREAK
    assert driver.rests_on == ["test"] * 5


@RUNS
def test_check_whose_errors_change_with_each_edit(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    for number in range(20):
        assert driver.fails(Status.DEFINITE, f"{20 - number} failed", "test", path="t")
        assert driver.gives("ok", "edit", path="a.py", text=f"try {number}")
    assert driver.gives("all passed", "test", path="t")
    assert driver.is_open


@RUNS
def test_check_that_passes_at_the_fifth_try(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    for number in range(4):
        assert driver.fails(Status.DEFINITE, "1 failed", "test", path="t")
        assert driver.gives("ok", "edit", path="a.py", text=f"try {number}")
    assert driver.gives("1 passed", "test", path="t")
    assert driver.is_open


@RUNS
def test_one_error_of_different_checks_is_many(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    for number in range(12):
        assert driver.fails(Status.DEFINITE, "1 failed", "test", path=f"test_{number}.py")
        assert driver.gives("ok", "edit", path=f"m{number}.py", text="mended")
    assert driver.is_open


# -- transient ones


@RUNS
def test_same_transient_error_at_once_is_tried_three_times(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    assert stepped(driver.fails(Status.TRANSIENT, "Timeout", "look", of="x") for _ in range(9)) == 3
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME


@RUNS
def test_same_transient_error_with_pauses_is_tried_five_times(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs, pause_s=10)

    assert stepped(driver.fails(Status.TRANSIENT, "Timeout", "look", of="x") for _ in range(9)) == 5
    assert driver.reason is Reason.ERROR_STREAK


@RUNS
def test_transient_error_that_passes(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs, pause_s=10)

    for number in range(6):
        for _ in range(4):
            assert driver.fails(Status.TRANSIENT, "Timeout", "look", of=number)
        assert driver.gives(number, "look", of=number)
    assert driver.is_open


# -- in general


@settings(max_examples=40)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=4), max_size=30))
def test_run_is_stopped_by_five_failed_turns_in_a_row_and_by_nothing_less(
    turns: list[list[bool]],
) -> None:
    driver = Driver(FETCH)
    failed = number = 0
    for results in turns:
        calls = []
        for good in results:
            number += 1
            calls.append(
                (ok(number) if good else bad(f"E{number}"), "fetch", {"url": f"u{number}"})
            )
        went = driver.together(*calls)
        assert all(went) or failed >= 5 or _tool_is_out(driver)
        if not all(went):
            return
        failed = 0 if any(results) else failed + 1
        assert (driver.run.mode is Mode.OPEN) is (failed < 5)


def _tool_is_out(driver: Driver) -> bool:
    return "etch failed whatever" in driver.last.message


@RUNS
def test_failure_beside_a_sibling_that_may_still_succeed_does_not_stop(
    specs: tuple[ToolSpec, ...],
) -> None:
    driver = Driver(*specs)
    for number, tool in enumerate(("look", "test", "look", "test")):
        assert driver.fails(Status.DEFINITE, f"Error{number}", tool, path=f"p{number}")

    both = (bad("Error4"), "look", {"path": "a"}), (ok(), "test", {"path": "b"})
    assert driver.together(*both) == [True, True]

    assert driver.gives("text", "look", path="c")
    assert driver.is_open
