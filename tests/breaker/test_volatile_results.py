"""What changes by itself in a result is nothing new, and what only looks like it is."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.progress.step import content_of

from .driver import Driver, Reason, Status, ToolSpec, read, stepped, write

UNDECLARED = read("get")


def asked(spec: ToolSpec, results: Iterable[Any]) -> int:
    """Ask the same and get these; returns how many calls were let through."""
    driver = Driver(spec)
    allowed = stepped(driver.gives(result, spec.name, of="x") for result in results)
    assert (driver.reason is None) is (allowed > 3)
    if driver.reason is not None:
        assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
        assert driver.rests_on == [spec.name] * 3
    return allowed


# -- what changes by itself


Make = Callable[[int], Any]
PASSING: dict[str, Make] = {
    "a field by its name": lambda n: {"state": "open", "generated_at": f"day {n}"},
    "a duration": lambda n: {"state": "open", "took_ms": n},
    "a field of a part": lambda n: {"state": "open", "meta": {"request_id": f"r-{n}"}},
    "a field of a row": lambda n: [{"state": "open", "latency": n}, {"state": "shut", "pid": n}],
    "a moment in a text": lambda n: f"open as of 2026-01-0{n + 1}T10:00:00Z",
    "a time of day in a text": lambda n: f"[10:0{n}:01] open",
    "a duration in a text": lambda n: f"open (in 0.{n} seconds)",
    "a moment in a part": lambda n: {"rows": [{"said": f"open at 2026-01-0{n + 1} 10:00"}]},
    "a field of JSON in a text": lambda n: json.dumps({"state": "open", "elapsed": n}),
    "rows of JSON in a text": lambda n: json.dumps([{"state": "open", "traceId": str(n)}]),
    "the order of fields": lambda n: {"ab"[n % 2]: 1, "ba"[n % 2]: 1},
}


@pytest.mark.parametrize("make", PASSING.values(), ids=PASSING)
def test_changes_by_itself(make: Make) -> None:
    assert asked(UNDECLARED, (make(number) for number in range(9))) == 3


DECLARED: dict[str, tuple[dict[str, Any], Make]] = {
    "a declared field": (
        {"result_volatile": ("seed",)},
        lambda n: {"state": "open", "part": {"seed": n}},
    ),
    "a declared pattern": (
        {"result_volatile_patterns": (r"worker \d+",)},
        lambda n: f"open, says worker {n}",
    ),
    "a declared pattern in a part": (
        {"result_volatile_patterns": (r"worker \d+", r"#\d+")},
        lambda n: {"rows": [f"open, says worker {n} #{n}"]},
    ),
    "a declared version": (
        {"result_version": "rev"},
        lambda n: {"rev": 7, "text": f"wording {n} of it"},
    ),
}


@pytest.mark.parametrize(("declared", "make"), DECLARED.values(), ids=DECLARED)
def test_declared_as_changing_by_itself(declared: dict[str, Any], make: Make) -> None:
    driver = Driver(read("get", **declared))

    assert stepped(driver.gives(make(n), "get", of="x") for n in range(9)) == 3
    assert driver.rests_on == ["get"] * 3


@pytest.mark.parametrize(
    ("declared", "make"),
    [each for name, each in DECLARED.items() if name != "a declared version"],
)
def test_without_the_declaration_it_is_new(declared: dict[str, Any], make: Make) -> None:
    assert asked(UNDECLARED, (make(number) for number in range(9))) == 9


def test_moment_in_an_error_makes_no_other_error() -> None:
    driver = Driver(UNDECLARED)

    assert (
        stepped(
            driver.fails(Status.TRANSIENT, f"busy at 10:0{n}:00", "get", of="x") for n in range(9)
        )
        == 3
    )


def test_declared_pattern_holds_for_errors_too() -> None:
    driver = Driver(read("get", result_volatile_patterns=(r"worker \d+",)))

    assert (
        stepped(
            driver.fails(Status.TRANSIENT, f"busy: worker {n}", "get", of="x") for n in range(9)
        )
        == 3
    )


# -- what only looks like it


NEW: dict[str, Make] = {
    "a queue's items that have ids": lambda n: {"id": str(uuid.UUID(int=n)), "kind": "mail"},
    "ids of rows": lambda n: [{"order_id": f"O-{n}"}],
    "a counter that goes down": lambda n: {"left": 9 - n},
    "a share": lambda n: {"percent": n * 10},
    "when somebody has changed it": lambda n: {"state": "open", "updated_at": f"day {n}"},
    "a date that is no moment": lambda n: f"delivered on 2026-01-0{n + 1}",
    "a number in a text": lambda n: f"{n} failed, {9 - n} passed",
    "a version in a text": lambda n: f"release 1.{n}.0",
    "a line more": lambda n: "\n".join(f"line {each}" for each in range(n + 1)),
    "JSON in a text": lambda n: json.dumps({"state": n}),
    "text that is nearly JSON": lambda n: '{"elapsed": ' + str(n),
    "the length of a list": lambda n: ["a"] * (n + 1),
    "truth beside one": lambda n: [[1, True, "1", 1.5, None][n % 5], n // 5],
    "what is not empty beside what is": lambda n: [n] if n % 2 else {"found": n},
}


@pytest.mark.parametrize("make", NEW.values(), ids=NEW)
def test_is_new(make: Make) -> None:
    assert asked(UNDECLARED, (make(number) for number in range(9))) == 9


def test_another_version_is_new_whatever_it_says() -> None:
    results = ({"rev": number, "text": "the same"} for number in range(9))

    assert asked(read("get", result_version="rev"), results) == 9


def test_same_result_of_another_thing_is_new() -> None:
    driver = Driver(UNDECLARED)

    assert all(driver.gives({"state": "open"}, "get", of=f"O-{number}") for number in range(20))
    assert driver.is_open


def test_write_whose_result_changes_by_itself_is_still_new_by_what_it_writes() -> None:
    driver = Driver(UNDECLARED, write("put"))

    for number in range(9):
        assert driver.gives({"state": "open"}, "get", of="x")
        assert driver.gives({"request_id": number}, "put", of=number)
    assert driver.is_open


# -- in general


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=8), each, max_size=3)
    ),
    max_leaves=12,
)


@given(JSON, st.text(), st.text())
def test_added_nonce_changes_no_result(result: Any, one: str, other: str) -> None:
    first, second = ({"result": result, "request_id": mark} for mark in (one, other))

    assert digest(content_of(first, UNDECLARED)) == digest(content_of(second, UNDECLARED))


@settings(max_examples=40)
@given(st.lists(st.integers(), min_size=1, max_size=30, unique=True), st.booleans())
def test_new_ids_never_trip(ids: list[int], wrapped: bool) -> None:  # noqa: FBT001 - drawn
    results = ({"items": [{"id": each}]} if wrapped else {"id": each} for each in ids)
    driver = Driver(UNDECLARED)

    assert all(driver.gives(result, "get", of="x") for result in results)
    assert driver.is_open


@settings(max_examples=40)
@given(JSON, st.randoms(use_true_random=False))
def test_order_of_fields_makes_no_other_result(result: Any, draw: Any) -> None:
    def shuffled(value: Any) -> Any:
        if isinstance(value, dict):
            names = list(value)
            draw.shuffle(names)
            return {name: shuffled(value[name]) for name in names}
        return [shuffled(each) for each in value] if isinstance(value, list) else value

    one, other = content_of(result, UNDECLARED), content_of(shuffled(result), UNDECLARED)
    assert digest(one) == digest(other)


@settings(max_examples=40)
@given(JSON)
def test_json_in_a_text_is_looked_into(result: Any) -> None:
    texts = [json.dumps({"result": result, "elapsed": number}) for number in range(2)]

    one, other = (digest(content_of(text, UNDECLARED)) for text in texts)
    assert one == other
