"""Which calls are siblings, with turns and without; and errors in a row, counted by them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.error_turns import ErrorTurns
from pytest_tripwire.breaker.rounds import Rounds


def test_calls_of_one_turn_are_siblings_even_one_after_another() -> None:
    rounds = Rounds()
    numbers = []
    for turn in (1, 1, 1, 2, 4, 4):
        numbers.append(rounds.of_call(turn))
        rounds.came_back()

    assert numbers == [1, 1, 1, 2, 4, 4]


def test_without_turns_calls_side_by_side_are_siblings() -> None:
    rounds = Rounds()
    together = [rounds.of_call(0) for _ in range(5)]
    for _ in range(5):
        rounds.came_back()
    after = rounds.of_call(0)

    assert together == [1] * 5
    assert after == 2


def test_without_turns_a_refused_call_is_no_turn() -> None:
    rounds = Rounds()
    rounds.of_call(0)
    rounds.came_back()
    refused = [rounds.of_call(0) for _ in range(9)]

    assert refused == [2] * 9
    assert rounds.number == 2


def test_a_run_that_goes_on_uses_no_number_twice() -> None:
    assert Rounds(7).of_call(0) == 8
    assert Rounds(7).of_call(8) == 8
    assert Rounds(7).of_call(1) == 8


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.booleans())))
def test_numbers_only_grow(steps: list[tuple[int, bool]]) -> None:
    rounds = Rounds()
    last = 0
    for turn, came_back in steps:
        number = rounds.of_call(turn)
        assert number >= max(last, turn, 1)
        assert number == rounds.number
        last = number
        if came_back:
            rounds.came_back()


def test_siblings_that_fail_count_once() -> None:
    errors = ErrorTurns()

    assert [errors.failed(turn) for turn in (1, 1, 2, 2, 1, 3)] == [
        *[True, False, True, False, False, True]
    ]
    assert (errors.count, errors.turn) == (3, 3)


def test_a_success_counts_for_its_whole_turn_and_all_before() -> None:
    errors = ErrorTurns(4)
    errors.failed(5)
    errors.succeeded(5)
    errors.failed(5)
    errors.failed(4)
    assert errors.count == 0
    errors.failed(6)
    assert errors.count == 1


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=30))
def test_turns_in_order_are_counted_as_a_person_would(calls: list[tuple[int, bool]]) -> None:
    calls.sort(key=lambda call: call[0])  # any order within a turn, the turns one after another
    errors = ErrorTurns()
    for turn, succeeded in calls:
        if succeeded:
            errors.succeeded(turn)
        else:
            errors.failed(turn)

    in_a_row = 0
    for turn in sorted({turn for turn, _ in calls}):
        good = any(succeeded for each, succeeded in calls if each == turn)
        in_a_row = 0 if good else in_a_row + 1
    assert errors.count == in_a_row
