"""A call that took as long as it says was a pause, and nothing else; one that only says so was
none.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.breaker.progress import Step, step_of
from pytest_tripwire.breaker.progress.waiting import PAUSE_S, Waiting

from .driver import Driver, Outcome, Reason, Status, ToolCall, ToolSpec, ok, read, write

PAUSE = read("pause")
FAILED = Outcome(status=Status.TRANSIENT, error="Timeout")


def a_step(
    took: float,
    arguments: dict[str, Any],
    *,
    spec: ToolSpec = PAUSE,
    outcome: Outcome | None = None,
    at: float = 0.0,
) -> Step:
    call = ToolCall(call_id="c1", tool=spec.name, arguments=arguments)
    proposal = Proposal(call=call, spec=spec, intent=intent_of(call, spec, ""))
    return step_of(proposal, outcome or ok(None), seq=1, turn=1, at=at, took=took)


def is_pause(step: Step) -> bool:
    """Whether the first call of its kind is one: nothing else can be waited for at first sight."""
    return Waiting().is_waiting(step, step.intent, new=0)


@pytest.mark.parametrize(
    ("took", "said"),
    [
        (5.0, 5),
        (5.0, 5.0),
        (5.0, "5"),
        (5.0, "5s"),
        (5.0, "sleep 5"),
        (5.0, "wait 5 seconds please"),
        (5.0, 5000),
        (0.5 * 60, "0.5m"),
        (2.0 * 60, "2 min"),
        (3.0 * 3600, "3 hours"),
        (PAUSE_S, 1),
    ],
)
def test_a_call_that_takes_as_long_as_it_says_is_a_pause(took: float, said: Any) -> None:
    assert is_pause(a_step(took, {"for": said}))


@pytest.mark.parametrize(
    ("took", "said"),
    [
        (0.99, 1),
        (0.0, 0),
        (5.0, 9),
        (5.0, None),
        (5.0, "five"),
        (5.0, "A-5"),
        (5.0, "5x"),
        (5.0, [5]),
        (5.0, {"seconds": 5}),
        (1.0, True),
        (5.0, "5 " + "x" * 128),
        (5.0, math.nan),
        (5.0, math.inf),
        pytest.param(5.0, 10**400, id="huge"),
        (5.0, -5),
    ],
)
def test_a_call_that_takes_another_time_than_it_says_is_none(took: float, said: Any) -> None:
    assert not is_pause(a_step(took, {"for": said}))


@pytest.mark.parametrize(
    ("took", "said", "near"),
    [
        (100.0, 109, True),
        (100.0, 111, False),
        (100.0, 91, True),
        (100.0, 89, False),
        (2.0, 2.4, True),
        (2.0, 2.6, False),
    ],
)
def test_a_pause_may_miss_what_it_says_by_a_tenth_or_half_a_second(
    took: float,
    said: float,
    near: bool,  # noqa: FBT001 - a parameter
) -> None:
    assert is_pause(a_step(took, {"for": said})) is near


def test_any_of_the_arguments_may_say_it() -> None:
    assert is_pause(a_step(5.0, {"why": "the export takes time", "job": "E-77", "seconds": 5}))


def test_a_call_that_fails_or_writes_is_no_pause() -> None:
    assert not is_pause(a_step(5.0, {"for": 5}, outcome=FAILED))
    assert not is_pause(a_step(5.0, {"for": 5}, spec=write("pause")))


@pytest.mark.parametrize("paused", [True, False])
def test_a_look_after_a_pause_is_a_look_at_what_is_waited_for(paused: bool) -> None:  # noqa: FBT001 - a parameter
    waiting, job = Waiting(), read("job")
    look = a_step(0.1, {"id": "J"}, spec=job, outcome=ok({"rows": 3}), at=1.0)
    between = a_step(5.0, {"for": 5 if paused else 50}, at=6.0)
    again = a_step(0.1, {"id": "J"}, spec=job, outcome=ok({"rows": 3}), at=7.0)

    assert not waiting.is_waiting(look, "job", new=0)
    assert waiting.is_waiting(between, "pause", new=0) is paused
    assert waiting.is_waiting(again, "job", new=0) is paused


def test_one_pause_excuses_one_look() -> None:
    waiting, job = Waiting(), read("job")

    def look(at: float) -> bool:
        step = a_step(0.1, {"id": "J"}, spec=job, outcome=ok({"rows": 3}), at=at)
        return waiting.is_waiting(step, "job", new=0)

    assert not look(1.0)
    assert waiting.is_waiting(a_step(5.0, {"for": 5}, at=6.0), "pause", new=0)
    assert [look(7.0), look(12.0)] == [True, False]


@pytest.mark.parametrize(("seconds", "executed"), [(5.0, 20), (0.0, 3)])
def test_a_run_may_pause_as_often_as_it_likes_and_not_only_say_so(
    seconds: float, executed: int
) -> None:
    driver = Driver(PAUSE)

    def pause() -> bool:
        call, verdict = driver.propose("pause", seconds=5)
        if verdict.allowed:
            driver.waits(seconds)
            driver.settle(call, ok("done"))
        return verdict.allowed

    assert driver.executed(pause for _ in range(20)) == executed
    if executed < 20:
        assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME


SAID = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(max_examples=40)
@given(SAID, st.floats(0, 1e6), st.sampled_from([ok("done"), ok(None), FAILED]))
def test_nothing_that_is_said_is_too_strange_and_no_short_or_failed_call_is_a_pause(
    said: Any, took: float, outcome: Outcome
) -> None:
    found = is_pause(a_step(took, {"for": said}, outcome=outcome))

    assert not found or (took >= PAUSE_S and outcome is not FAILED)
