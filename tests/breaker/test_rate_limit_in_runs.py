"""So many calls within a minute, as a run counts them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    Effect,
    Mode,
    Outcome,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
)

SPECS = {
    "look": ToolSpec(name="look", effect=Effect.READ),
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), reconcile="look"),
}


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


class Service:
    """One run, and when its calls were dispatched."""

    def __init__(self, limit: int, **limits: Any) -> None:
        self.clock = Clock()
        budget = RunBudget(max_calls_per_minute=limit, **limits)
        self.run: Any = Breaker(specs=SPECS, budget=budget, clock=self.clock).run()  # type: ignore[arg-type]
        self.sent: list[float] = []
        self._numbers = iter(range(10_000))

    def call(self, tool: str = "look", status: Status = Status.OK, **arguments: Any) -> str:
        number = next(self._numbers)
        about = arguments or {"order": f"{number}"}
        call = ToolCall(call_id=f"{number}", tool=tool, arguments=about)
        verdict = self.run.decide(call)
        if verdict.allowed:
            self.sent.append(self.clock.seconds)
            self.run.settle(call, Outcome(status=status, result={"n": number}))
        return str(verdict.reason or "")


def test_one_call_too_many_is_refused_and_the_run_goes_on() -> None:
    service = Service(2)

    assert [service.call() for _ in range(3)] == ["", "", "rate_limit"]
    assert service.run.mode is Mode.OPEN
    service.clock.seconds = 60
    assert service.call() == ""


def test_the_refusal_says_when_to_try_again() -> None:
    service = Service(1)
    service.call()
    service.clock.seconds = 12.5

    verdict = service.run.decide(ToolCall(call_id="x", tool="look", arguments={"order": "A"}))

    assert "try again in 47.5 s" in verdict.message
    assert verdict.retry_after_s == 47.5


def test_a_refused_call_takes_no_place_in_the_minute() -> None:
    service = Service(2)
    for _ in range(5):
        service.call()
    service.clock.seconds = 60

    assert [service.call() for _ in range(3)] == ["", "", "rate_limit"]


def test_a_call_that_is_taken_back_takes_no_place_either() -> None:
    service = Service(1)
    call = ToolCall(call_id="x", tool="look", arguments={"order": "A"})
    assert service.run.decide(call).allowed

    service.run.withdraw(call)

    assert service.call() == ""


def test_a_call_that_something_else_refuses_takes_no_place() -> None:
    service = Service(1)

    assert service.call("nothing") == "invalid_arguments"
    assert service.call() == ""


def test_a_lost_write_is_told_of_before_the_rate() -> None:
    service = Service(1)
    service.call("pay", Status.UNKNOWN, order="A")

    assert service.call("pay", order="A") == "unknown_side_effect"


def test_the_read_that_settles_a_write_is_free_of_the_rate() -> None:
    service = Service(1)
    service.call("pay", Status.UNKNOWN, order="A")
    service.call("pay", order="A")
    assert service.run.mode is Mode.READ_ONLY

    assert service.call("look", order="A") == ""


def test_without_a_limit_nothing_is_counted() -> None:
    run = Breaker(specs=SPECS).run()
    for number in range(200):
        call = ToolCall(call_id="1", tool="look", arguments={"order": f"{number}"})
        assert run.decide(call).allowed
        run.settle(call, Outcome(status=Status.OK, result=number))


def test_a_limit_of_none_at_all_lets_nothing_through() -> None:
    assert Service(0).call() == "rate_limit"


def test_siblings_of_one_message_share_the_minute() -> None:
    service = Service(3)
    batch = [ToolCall(call_id=f"{n}", tool="look", arguments={"n": n}) for n in range(5)]

    told = [str(each.reason or "") for each in service.run.decide_batch(batch)]

    assert told == ["", "", "", "rate_limit", "rate_limit"]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.floats(0, 40), st.sampled_from(["look", "pay"])), max_size=40),
)
def test_no_minute_holds_more_calls_than_it_may(limit: int, steps: list[tuple[float, str]]) -> None:
    service = Service(limit)
    for seconds, tool in steps:
        service.clock.seconds += seconds
        service.call(tool)

    for first in service.sent:
        within = [each for each in service.sent if first <= each < first + 60]
        assert len(within) <= limit


@pytest.mark.parametrize("shadow", [False, True])
def test_what_is_sent_while_it_is_only_watched_is_not_held_back(shadow: bool) -> None:  # noqa: FBT001 - both worlds
    mode: Any = "shadow" if shadow else "enforce"
    run = Breaker(specs=SPECS, budget=RunBudget(max_calls_per_minute=1), mode=mode).run()
    calls = [ToolCall(call_id=f"{n}", tool="look", arguments={"n": n}) for n in range(3)]

    assert [run.decide(call).allowed for call in calls] == [True, shadow, shadow]
