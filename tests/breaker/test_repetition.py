"""The same words, the same error; and the good runs that look alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.repetition import (
    TIMES,
    WINDOW,
    RepeatedError,
    Repetition,
)

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", " \n"]), max_size=20)


def first(watch: Repetition, texts: Iterable[Any]) -> int | None:
    """The place, from 1, of the text that is one too many."""
    return next((n for n, text in enumerate(texts, 1) if watch.add(text)), None)


# -- texts


@pytest.mark.parametrize(
    ("texts", "at"),
    [
        (["so", "so", "so"], 3),
        (["so", "a", "so", "b", "so"], 5),
        (["So\n what?", "so what?", " SO \t WHAT? "], 3),
        (["so", "a", "so", "b", "c", "so"], None),
        (["so", "so", "a", "b", "c", "so", "so"], None),
        (["a", "b", "c", "d", "e"], None),
        (["so what", "sowhat", "so, what"], None),
        ([""] * 9, None),
        ([" \n\t"] * 9, None),
        ([None] * 9, None),
        ([{"text": "so"}] * 9, None),
        (["so", "", "", "", "so", "", "", "", "so"], 9),
        (["\ud800"] * 3, 3),
        (["x" * 100_000] * 3, 3),
    ],
)
def test_three_of_the_last_five_texts_are_a_repetition(texts: list[Any], at: int | None) -> None:
    assert (WINDOW, TIMES) == (5, 3)
    assert first(Repetition(), texts) == at


def test_it_stays_one_as_long_as_it_goes_on() -> None:
    watch = Repetition()

    assert [watch.add("so") for _ in range(6)] == [False, False, True, True, True, True]


def test_a_good_agent_that_says_the_same_before_each_step_is_cleared_by_progress() -> None:
    watch = Repetition()
    for _ in range(20):
        assert not watch.add("Let me look further.")
        watch.clear()


def test_only_fingerprints_are_kept_and_go_on() -> None:
    watch = Repetition()
    watch.add("a secret")
    watch.add("a secret")

    kept = watch.digests
    assert "secret" not in repr(kept)
    assert len(kept) == 2
    assert Repetition(digests=kept).add("A SECRET")


@given(TEXTS, st.integers(1, 5), st.integers(1, 5))
def test_it_is_what_counting_the_last_few_gives(texts: list[str], window: int, times: int) -> None:
    times = min(window, times)
    watch = Repetition(window, times)
    said: list[str] = []
    for text in texts:
        told = watch.add(text)
        if not text.strip():
            assert told is False
            continue
        said.append(text)
        assert told == (said[-window:].count(text) >= times)
        assert len(watch.digests) <= window


@pytest.mark.parametrize(("window", "times"), [(2, 3), (5, 0), (0, 0)])
@pytest.mark.parametrize("kind", [Repetition, RepeatedError])
def test_a_window_in_which_it_cannot_happen_is_refused(kind: Any, window: int, times: int) -> None:
    with pytest.raises(ValueError, match=rf"{kind.__name__}\(window={window}, times={times}\)"):
        kind(window, times)


# -- one error again and again


def at(watch: RepeatedError, turns: Iterable[str | None]) -> int | None:
    """The turn, from 1, whose error is one too many; None stands for a turn that succeeds."""
    for turn, error in enumerate(turns, 1):
        if error is None:
            watch.succeeded(turn)
        elif watch.failed(error, turn):
            return turn
    return None


@pytest.mark.parametrize(
    ("turns", "stops"),
    [
        (["timeout", "timeout", "timeout"], 3),
        (["timeout", None, "timeout", None, "timeout"], 5),
        (["timeout", "busy", "timeout", "busy", "timeout"], 5),
        (["timeout", "busy", "lost", "gone", "denied"] * 5, None),
        ([*["timeout", None, None, None, None] * 12], None),
        (["timeout", "timeout", None, None, None, "timeout", "timeout", None], None),
    ],
)
def test_the_same_error_in_three_of_the_last_five_turns(
    turns: list[str | None], stops: int | None
) -> None:
    assert at(RepeatedError(), turns) == stops


def test_success_does_not_clear_it() -> None:
    watch = RepeatedError()
    for turn in (1, 2):
        watch.failed("assertion", turn)
    watch.succeeded(2)
    watch.succeeded(3)

    assert watch.failed("assertion", 4)


def test_siblings_that_fail_alike_count_once() -> None:
    watch = RepeatedError()

    assert [watch.failed("timeout", turn) for turn in (1, 1, 1, 1, 2, 2, 3)] == [
        *[False] * 6,
        True,
    ]


def test_a_scan_over_orders_of_which_many_do_not_exist_is_good_work() -> None:
    watch = RepeatedError()

    assert not any(watch.failed("NotFound", turn, about=f"order {turn}") for turn in range(1, 40))


def test_the_same_question_with_the_same_error_is_not() -> None:
    watch = RepeatedError()

    assert [watch.failed("NotFound", turn, about="order 7") for turn in (1, 2, 3)][-1]


def test_class_and_what_it_is_about_do_not_run_into_each_other() -> None:
    watch = RepeatedError()
    for turn, (error, about) in enumerate([("ab", "c"), ("a", "bc"), ("abc", "")], 1):
        assert not watch.failed(error, turn, about=about)


def test_an_outcome_from_long_ago_says_nothing() -> None:
    watch = RepeatedError()
    for turn in (11, 12):
        watch.failed("timeout", turn)
    for turn in range(13, 16):
        watch.succeeded(turn)

    assert not watch.failed("timeout", 3)
    assert not watch.failed("timeout", 16)
    assert len(watch._turns) == WINDOW  # noqa: SLF001 - how much it keeps is what is tested


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 1), st.sampled_from(["a", "b", None])), max_size=40),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_it_is_what_counting_the_last_few_turns_gives(
    calls: list[tuple[int, str | None]], window: int, times: int
) -> None:
    times = min(times, window)
    watch = RepeatedError(window, times)
    turn, seen = 1, list[tuple[int, str | None]]()
    for step, error in calls:
        turn += step
        seen.append((turn, error))
        recent = sorted({each for each, _ in seen})[-window:]
        if error is None:
            watch.succeeded(turn)
            continue
        having = {each for each, kind in seen if kind == error and each in recent}
        assert watch.failed(error, turn) == (len(having) >= times)
