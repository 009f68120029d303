"""A few calls alternate, with or without noise between them, and nothing new comes of it."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .driver import Driver, Mode, Reason, ToolSpec, bare, handoff, read, stepped, write

SPECS = (
    read("get", identity=("of",)),
    write("set", identity=("of",)),
    read("job", poll=True),
    read("note"),
)
UNDECLARED = (bare(SPECS[0]), bare(SPECS[1]), SPECS[2], bare(SPECS[3]))
BOTH = pytest.mark.parametrize("specs", [SPECS, UNDECLARED], ids=["declared", "undeclared"])
PERIODS = pytest.mark.parametrize("period", range(2, 9))


def rounds(period: int, times: int = 12) -> Iterator[int]:
    return itertools.islice(itertools.cycle(range(period)), period * times)


def reads(driver: Driver, which: Iterable[int]) -> int:
    """Read these, each of which never changes; returns how many reads were let through."""
    return stepped(driver.gives(f"text {n}", "get", of=f"r-{n}") for n in which)


def writes(driver: Driver, values: Iterable[Any]) -> int:
    """Put one thing into these states; returns how many writes were let through."""
    return stepped(driver.gives("ok", "set", of="flag", state=value) for value in values)


# -- reads


@BOTH
@PERIODS
def test_ring_of_reads(specs: tuple[ToolSpec, ...], period: int) -> None:
    driver = Driver(*specs)

    allowed = reads(driver, rounds(period))

    # The first round is new; the second and the third are not, and the third is never finished.
    assert allowed == 3 * period - 1
    assert driver.reason is Reason.INTENT_CYCLE
    assert driver.rests_on[-1] == "get"


@BOTH
@PERIODS
@pytest.mark.parametrize("seed", range(5))
def test_ring_of_reads_in_any_order(specs: tuple[ToolSpec, ...], period: int, seed: int) -> None:
    driver, draw = Driver(*specs), random.Random(seed)  # noqa: S311 - noise and no secret

    allowed = reads(driver, (draw.randrange(period) for _ in range(200)))

    assert allowed <= 3 * period
    assert driver.reason in {Reason.INTENT_CYCLE, Reason.REPEATED_INTENT_SAME_OUTCOME}


@BOTH
def test_ring_of_reads_with_polls_between(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)
    asked = 0
    for which in rounds(3):
        driver.gives({"percent": asked}, "job", id="J")
        if not driver.gives(f"text {which}", "get", of=f"r-{which}"):
            break
        asked += 1

    assert asked in {7, 8}
    assert driver.reason is Reason.INTENT_CYCLE


# -- writes


@BOTH
@pytest.mark.parametrize("states", [("on", "off"), (1, 2), (True, False)])
def test_thing_put_into_two_states_for_ever(specs: tuple[ToolSpec, ...], states: Any) -> None:
    driver = Driver(*specs)

    assert writes(driver, itertools.islice(itertools.cycle(states), 60)) == 8
    assert driver.reason is Reason.INTENT_CYCLE
    assert driver.rests_on == ["set"] * 6


@PERIODS
def test_thing_put_into_states_in_turn_for_ever(period: int) -> None:
    driver = Driver(*SPECS)

    assert writes(driver, rounds(period)) == period + max(6, 2 * period - 1)
    assert driver.reason is Reason.INTENT_CYCLE


@BOTH
def test_reads_of_what_was_put_to_and_fro_are_part_of_it(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)
    steps = 0
    for state in itertools.islice(itertools.cycle(["on", "off"]), 40):
        if not driver.gives("ok", "set", of="flag", state=state):
            break
        if not driver.gives(state, "get", of="flag"):
            break
        steps += 1

    assert steps <= 6
    assert driver.run.mode is not Mode.OPEN


# -- hand-offs


@pytest.mark.parametrize("size", range(2, 7))
def test_ring_of_agents_of_which_nothing_is_declared(size: int) -> None:
    driver = Driver(handoff("transfer"))
    agents = [f"agent-{number}" for number in range(size)]
    allowed = 0
    for number in range(40):
        one, other = agents[number % size], agents[(number + 1) % size]
        if not driver.by(one, "ok", "transfer", to=other, note=f"I hand this to you, try {number}"):
            break
        allowed += 1

    assert allowed == size + 4
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS
    assert driver.rests_on == ["transfer"] * 4


@pytest.mark.parametrize("size", range(2, 7))
def test_ring_of_agents_word_for_word(size: int) -> None:
    driver = Driver(handoff("transfer"))
    agents = [f"agent-{number}" for number in range(size)]
    allowed = 0
    for number in range(40):
        one, other = agents[number % size], agents[(number + 1) % size]
        if not driver.by(one, "ok", "transfer", to=other, note="please take over now"):
            break
        allowed += 1

    assert allowed == size + 2
    assert driver.rests_on == ["transfer"] * 2


def test_ring_of_tools_one_for_each_agent() -> None:
    driver = Driver(*(handoff(f"to_{name}") for name in "abc"))
    tools = itertools.cycle(["to_a", "to_b", "to_c"])

    assert (
        stepped(driver.gives("ok", next(tools), note="please take over now") for _ in range(40))
        == 5
    )


# -- good work that looks like it


@BOTH
@PERIODS
def test_ring_in_which_each_answer_is_new(specs: tuple[ToolSpec, ...], period: int) -> None:
    driver = Driver(*specs)

    assert all(
        driver.gives(f"line {number}", "get", of=f"log-{which}")
        for number, which in enumerate(rounds(period))
    )
    assert driver.is_open


@BOTH
def test_two_growing_logs_read_in_turn(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    for number in range(20):
        for log in ("a", "b"):
            lines = [f"line {each} of {log}" for each in range(number // 2 + 1)]
            assert driver.gives(lines, "get", of=log)
    assert driver.is_open


@BOTH
def test_queue_taken_from_without_arguments(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    assert all(driver.gives({"job": number}, "get") for number in range(40))
    assert driver.is_open


@BOTH
def test_counter_that_goes_down(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    assert all(driver.gives({"left": left}, "get") for left in range(40, 0, -1))
    assert driver.is_open


@BOTH
def test_value_put_back_once_or_twice(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    assert writes(driver, ["on", "off", "on", "off", "on"]) == 5
    assert driver.is_open


@BOTH
def test_many_different_writes_in_turn(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    assert all(
        driver.gives("ok", "set", of=f"record {number % 5}", state=number) for number in range(60)
    )
    assert driver.is_open


@BOTH
def test_edit_between_two_rounds_of_checks(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    for number in range(20):
        assert reads(driver, range(3)) == 3
        assert driver.gives("ok", "set", of="file", text=f"edit {number}")
    assert driver.is_open


def test_two_rounds_over_two_files_undeclared() -> None:
    driver = Driver(*UNDECLARED)

    assert reads(driver, [0, 1, 0, 1]) == 4
    assert driver.is_open


@pytest.mark.parametrize("declared", [True, False])
def test_hand_offs_with_something_read_between(declared: bool) -> None:  # noqa: FBT001 - a parameter
    spec = handoff("transfer", identity=("to",), wording=("note",))
    driver = Driver(spec if declared else bare(spec), SPECS[0])

    for number in range(20):
        to = ("billing", "support")[number % 2]
        assert driver.gives(f"fact {number}", "get", of=number)
        assert driver.by("x", "ok", "transfer", to=to, note=f"see what I found, {number}")
    assert driver.is_open


@pytest.mark.parametrize("declared", [True, False])
def test_chain_of_different_agents(declared: bool) -> None:  # noqa: FBT001 - a parameter
    spec = handoff("transfer", identity=("to",), wording=("note",))
    driver = Driver(spec if declared else bare(spec))

    for number in range(12):
        assert driver.by(
            f"agent-{number}", "ok", "transfer", to=f"agent-{number + 1}", note="yours now"
        )
    assert driver.is_open


# -- in general


STEPS = st.lists(st.tuples(st.sampled_from(["get", "set", "note"]), st.integers(0, 2)), max_size=40)


@settings(max_examples=40)
@given(STEPS)
def test_new_answers_and_new_writes_never_trip_in_whatever_turn(
    steps: list[tuple[str, int]],
) -> None:
    for specs in (SPECS, UNDECLARED):
        driver = Driver(*specs)
        for number, (tool, of) in enumerate(steps):
            more = {"state": number} if tool == "set" else {}
            assert driver.gives(f"answer {number}", tool, of=of, **more)
        assert driver.is_open


@settings(max_examples=40)
@given(st.lists(st.integers(0, 7), min_size=150, max_size=150))
def test_reads_that_never_change_always_end(which: list[int]) -> None:
    for specs in (SPECS, UNDECLARED):
        driver = Driver(*specs)

        # However late each of the eight things is looked at for the first time.
        assert reads(driver, which) <= 8 * (3 * 8)
        assert driver.run.mode is not Mode.OPEN


@settings(max_examples=40)
@given(st.lists(st.sampled_from(["a", "b", "c"]), min_size=12, max_size=30))
def test_what_an_agent_reads_is_judged_as_if_it_were_alone(agents: list[str]) -> None:
    many = Driver(*SPECS)
    alone = {name: Driver(*SPECS) for name in agents}
    for number, name in enumerate(agents):
        of = f"r-{number % 2}"
        assert many.by(name, "text", "get", of=of)
        assert alone[name].by(name, "text", "get", of=of)
        assert many.reason is alone[name].reason
        if many.reason is not None:
            return


@settings(max_examples=40)
@given(st.lists(st.integers(0, 40), min_size=30, max_size=30))
def test_writes_that_undo_one_another_are_a_ring_whoever_makes_them(agents: list[int]) -> None:
    alone, many = Driver(*SPECS), Driver(*SPECS)
    for number, agent in enumerate(agents):
        state = number % 3
        allowed = alone.gives("ok", "set", of="r", state=state)
        assert allowed == many.by(f"a{agent}", "ok", "set", of="r", state=state)
        assert alone.last.reason is many.last.reason


@pytest.mark.parametrize("period", [9, 12])
def test_many_different_calls_are_no_ring(period: int) -> None:
    driver = Driver(*SPECS)

    assert writes(driver, rounds(period, times=3)) == 3 * period
    assert driver.is_open
