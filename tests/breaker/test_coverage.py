"""Reading a thing part by part: reading on is new, reading again at the same version is not."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.progress.coverage import Coverage, Covered, Part, part_of

from .driver import Driver, Mode, Reason, ToolCall, ToolSpec, bare, ok, read, stepped

FILE = read("read_file", identity=("path",), cursor=("offset",), result_version="etag")
BOTH = pytest.mark.parametrize("spec", [FILE, bare(FILE)], ids=["declared", "undeclared"])
Places = Iterable[tuple[int, int]]
_NUMBERS = itertools.count()


def part(start: float, end: float | None, *, named: bool = True) -> Part:
    return Part(thing="file", start=start, end=end, named=named)


def text() -> str:
    """What a part has shown, other than any before it."""
    return f"text {next(_NUMBERS)}"


def shown(driver: Driver, places: Places, *, version: str = "v1", path: str = "a.log") -> int:
    """Read parts, each with a text of its own; returns how many reads were let through."""
    return stepped(
        driver.brings(
            ok(f"lines {start} to {start + limit}", version=version),
            "read_file",
            path=path,
            offset=start,
            limit=limit,
        )
        for start, limit in places
    )


# -- the loop


@BOTH
def test_fifth_part_that_was_read_before_is_not_read_again(spec: ToolSpec) -> None:
    driver = Driver(spec)
    new = [(start, 100) for start in range(0, 400, 100)]
    again = [(start, 90) for start in range(0, 900, 100)][:4]

    assert shown(driver, new) == 4
    assert shown(driver, [*again, (0, 50)]) == 4
    assert driver.reason is Reason.STAGNANT_READ
    assert driver.rests_on == ["read_file"] * 4
    assert "read again what it had read of version v1" in driver.last.message


@BOTH
def test_overlapping_parts_are_read_once(spec: ToolSpec) -> None:
    driver = Driver(spec)

    assert shown(driver, [(0, 1000), *((start, 50) for start in range(0, 900, 70))]) == 5
    assert driver.reason is Reason.STAGNANT_READ


@BOTH
def test_hint_comes_one_step_before(spec: ToolSpec) -> None:
    driver = Driver(spec)
    shown(driver, [(0, 1000), *((start, 50) for start in range(0, 900, 70))])

    assert [hint is not None for hint in driver.hints] == [False, False, False, True, False]


def test_walk_down_again_over_pages_that_were_read() -> None:
    driver = Driver(read("page"))
    walk = [1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1]

    allowed = stepped(driver.brings(ok(n, version="v1"), "page", of="x", page=n) for n in walk)

    assert allowed == 10
    assert driver.reason is Reason.STAGNANT_READ


# -- good work that looks like it


@BOTH
def test_reading_on_to_the_end(spec: ToolSpec) -> None:
    driver = Driver(spec)

    assert shown(driver, ((start, 200) for start in range(0, 10_000, 200))) == 50
    assert driver.is_open


@BOTH
def test_reading_backwards_from_the_end(spec: ToolSpec) -> None:
    driver = Driver(spec)

    assert shown(driver, ((start, 200) for start in range(9_800, -1, -200))) == 50
    assert driver.is_open


@BOTH
def test_parts_in_any_order_are_new_while_they_overlap_nothing(spec: ToolSpec) -> None:
    driver = Driver(spec)
    places = [400, 0, 900, 200, 600, 100, 800, 300, 700, 500]

    assert shown(driver, ((start, 100) for start in places)) == 10
    assert driver.is_open


@BOTH
def test_same_text_further_on_is_new(spec: ToolSpec) -> None:
    driver = Driver(spec)

    assert all(
        driver.brings(ok("----", version="v1"), "read_file", path="a", offset=n * 10, limit=10)
        for n in range(20)
    )
    assert driver.is_open


@BOTH
def test_part_that_reaches_further_is_new(spec: ToolSpec) -> None:
    driver = Driver(spec)

    assert shown(driver, ((0, limit) for limit in range(100, 2_000, 100))) == 19
    assert driver.is_open


@BOTH
def test_every_part_is_new_at_another_version(spec: ToolSpec) -> None:
    driver = Driver(spec)

    for version in range(8):
        assert shown(driver, [(0, 100), (100, 100), (200, 100)], version=f"v{version}") == 3
    assert driver.is_open


@BOTH
def test_files_are_covered_each_for_itself(spec: ToolSpec) -> None:
    driver = Driver(spec)

    for number in range(12):
        assert shown(driver, [(0, 100), (100, 100)], path=f"file{number}.py") == 2
    assert driver.is_open


@BOTH
def test_second_look_at_some_parts(spec: ToolSpec) -> None:
    driver = Driver(spec)

    assert shown(driver, [(0, 100), (100, 100), (200, 100), (0, 90), (100, 90), (200, 90)]) == 6
    assert driver.is_open


@BOTH
def test_other_files_may_be_read_once_it_waits(spec: ToolSpec) -> None:
    driver = Driver(spec)
    shown(driver, [(0, 1000), *((start, 50) for start in range(0, 280, 70))])

    assert shown(driver, [(0, 100), (100, 100)], path="other.py") == 2
    assert driver.run.mode is Mode.OPEN


def test_without_versions_other_parts_are_other_questions() -> None:
    driver = Driver(read("page"))

    assert all(driver.gives(f"t{n}", "page", of="x", page=n) for n in [1, 2, 3, 4, 3, 2, 1])
    assert driver.is_open


def test_declared_number_of_a_thing_is_no_place_in_it() -> None:
    driver = Driver(read("page", identity=("book", "chapter"), cursor=("page",)))

    assert all(
        driver.brings(ok("t", version="v1"), "page", book="b", chapter=n, page=1) for n in range(9)
    )
    assert driver.is_open


# -- which part a call asks for


@pytest.mark.parametrize(
    ("arguments", "start", "end"),
    [
        ({"path": "a", "offset": 10, "limit": 5}, 10, 15),
        ({"path": "a", "start_line": 10, "end_line": 20}, 10, 20),
        ({"path": "a", "page": 3}, 3, None),
        ({"path": "a", "from": 3, "to": 9}, 3, 9),
        ({"path": "a", "skip": 3, "count": -5}, 3, 3),
        ({"path": "a", "offset": 10, "limit": 5, "request_id": 99}, 10, 15),
        ({"path": "a", "start": 0.5, "length": 0.5}, 0.5, 1.0),
    ],
)
def test_usual_names_of_places(arguments: dict[str, Any], start: float, end: float | None) -> None:
    found = part_of(ToolCall(call_id="1", tool="read", arguments=arguments), read("read"))

    assert found is not None
    assert (found.start, found.end, found.named) == (start, end, True)


def test_declared_cursor_outweighs_the_usual_names() -> None:
    call = ToolCall(call_id="1", tool="read", arguments={"path": "a", "page": 3, "chunk": 8})

    found = part_of(call, read("read", cursor=("chunk",)))

    assert found is not None
    assert found.start == 8


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": "a"}, {"page": 3}, {"path": "a", "limit": 5}, {"path": "a", "page": "3"}],
)
def test_calls_that_ask_for_no_part(arguments: dict[str, Any]) -> None:
    assert part_of(ToolCall(call_id="1", tool="read", arguments=arguments), read("read")) is None


def test_truth_is_no_place() -> None:
    call = ToolCall(call_id="1", tool="read", arguments={"path": "a", "start": True})

    assert part_of(call, read("read")) is None


# -- what is covered


RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 12)), max_size=40)


@settings(max_examples=40)
@given(RANGES)
@example([(0, 1), (1, 1), (0, 2)])
def test_part_adds_something_unless_all_of_it_was_read(ranges: list[tuple[int, int]]) -> None:
    covered, known = Covered("v1"), set[int]()

    for start, size in ranges:
        asked = set(range(start, start + size))
        assert covered.adds(part(start, start + size), text()) is not (asked <= known)
        known |= asked


@settings(max_examples=40)
@given(RANGES)
def test_what_was_read_adds_nothing_a_second_time(ranges: list[tuple[int, int]]) -> None:
    covered = Covered("v1")
    for start, size in ranges:
        covered.adds(part(start, start + size), text())

    assert not any(covered.adds(part(start, start + size), text()) for start, size in ranges)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40))
def test_number_without_a_name_is_new_only_beyond_all_before(numbers: list[int]) -> None:
    covered = Covered("v1")
    before: list[int] = []

    for number in numbers:
        beyond = not before or number > max(before) or number < min(before)
        # Where a position is only guessed, what was shown has to be known as well.
        assert covered.adds(part(number, None, named=False), "the same text") is beyond
        assert Covered("v1").adds(part(number, None, named=False), text())
        before.append(number)


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from(["f", "g"]), st.sampled_from(["1", "2"]), st.integers(0, 3)))
)
def test_things_and_versions_are_kept_apart(steps: list[tuple[str, str, int]]) -> None:
    coverage = Coverage()
    known: dict[str, tuple[str, set[int]]] = {}

    for thing, version, start in steps:
        at, seen = known.get(thing, ("", set()))
        seen = seen if at == version else set()
        asked = Part(thing=thing, start=start, end=start + 1, named=True)
        assert coverage.adds(asked, version, text()) is (start not in seen)
        known[thing] = (version, seen | {start})


@given(st.integers(1, 50), st.integers(1, 50))
def test_more_of_the_same_text_from_the_same_place_is_nothing_new(size: int, more: int) -> None:
    covered = Covered("v1")

    assert covered.adds(part(0, size), "all of it")
    assert not covered.adds(part(0, size + more), "all of it")
    assert covered.adds(part(0, size + more + 1), "all of it, and a line")


def test_memory_of_parts_is_bounded() -> None:
    covered = Covered("v1")
    for start in range(0, 20_000, 10):
        covered.adds(part(start, start + 1), text())

    assert covered.adds(part(0, 1), text()), "what was read longest ago is forgotten"
    assert not covered.adds(part(19_990, 19_991), text())


def test_memory_of_things_is_bounded() -> None:
    coverage = Coverage()
    for number in range(1_000):
        coverage.adds(Part(thing=str(number), start=0, end=1, named=True), "v1", text())

    assert coverage.adds(Part(thing="0", start=0, end=1, named=True), "v1", text())
    assert not coverage.adds(Part(thing="999", start=0, end=1, named=True), "v1", text())
