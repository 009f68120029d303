"""The sliding window: never more than the limit within any stretch of the period."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.rate import RateWindow
from pytest_tripwire.breaker.wait import seconds_until

MOMENTS = st.floats(0, 1e6, allow_nan=False)


def test_a_call_too_many_is_told_how_long_to_wait() -> None:
    window = RateWindow(2)
    window.add(10)
    window.add(40)

    assert window.retry_after(41) == 29
    assert window.retry_after(69.5) == 0.5
    assert window.retry_after(70) == 0
    window.add(70)
    assert window.retry_after(70) == 30


def test_the_turn_of_a_minute_resets_nothing() -> None:
    window = RateWindow(3)
    for moment in (59, 59.5, 59.9):
        window.add(moment)

    assert window.retry_after(60) == 59


def test_a_limit_of_zero_lets_nothing_through_ever() -> None:
    assert RateWindow(0).retry_after(1e9) == math.inf


def test_what_asks_only_takes_nothing() -> None:
    window = RateWindow(1)

    assert {window.retry_after(now) for now in range(9)} == {0}


def test_one_that_may_not_go_cannot_be_added() -> None:
    window = RateWindow(1)
    window.add(0)

    with pytest.raises(ValueError, match=r"add\(59\): 1 calls went within 60 s"):
        window.add(59)


def test_a_call_that_is_taken_back_makes_room() -> None:
    window = RateWindow(2)
    window.add(0)
    stamp = window.add(1)
    window.withdraw(stamp)
    window.add(2)

    assert window.retry_after(3) == 57


def test_taking_back_what_is_long_past_changes_nothing() -> None:
    window = RateWindow(1)
    old = window.add(0)
    window.add(60)
    window.withdraw(old)

    assert window.retry_after(61) == 59


def test_a_clock_that_was_read_a_moment_early_gives_nothing_away() -> None:
    window = RateWindow(2, period_s=10)
    window.add(5)
    stamp = window.add(4)

    assert stamp == 5
    assert window.retry_after(14.5) == 0.5


@pytest.mark.parametrize("bad", [-1, True, 1.5, None])
def test_a_limit_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=rf"RateWindow\(limit={bad!r}\): a whole number"):
        RateWindow(bad)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_a_period_that_is_none_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match=rf"RateWindow\(period_s={bad!r}\): seconds"):
        RateWindow(1, bad)


@settings(max_examples=100, deadline=None)
@given(
    limit=st.integers(1, 5),
    period=st.floats(0.001, 100),
    steps=st.lists(st.tuples(st.floats(0, 60), st.booleans()), max_size=60),
)
def test_no_stretch_of_the_period_ever_holds_more_than_the_limit(
    limit: int, period: float, steps: list[tuple[float, bool]]
) -> None:
    window = RateWindow(limit, period)
    now, went = 0.0, list[float]()
    for pause, withdraws in steps:
        now += pause
        free = sum(moment + period > now for moment in went) < limit
        assert (window.retry_after(now) == 0) is free
        if not free:
            continue
        stamp = window.add(now)
        if withdraws:
            window.withdraw(stamp)
        else:
            went.append(now)
        assert len(window._stamps) <= limit  # noqa: SLF001 - how much it keeps is what is tested

    for index in range(len(went) - limit):
        assert went[index] + period <= went[index + limit]


@given(MOMENTS, st.floats(0.001, 1000), st.floats(0, 1000))
def test_whoever_waits_as_long_as_told_may_go(start: float, period: float, later: float) -> None:
    window = RateWindow(1, period)
    window.add(start)
    now = start + later
    wait = window.retry_after(now)

    assert window.retry_after(now + wait) == 0
    assert wait == 0 or window.retry_after(now) > 0


@given(MOMENTS, MOMENTS)
def test_a_wait_is_no_longer_than_it_has_to_be(moment: float, now: float) -> None:
    wait = seconds_until(moment, now)

    assert now + wait >= moment
    assert wait == 0 or now + math.nextafter(wait, 0) <= moment
