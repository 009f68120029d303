"""How a recorded run is fed to the breaker: time, turns, money, and runs one after another."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import MODEL_REQUEST, Limits, Recorded, Trace, TraceStep
from pytest_tripwire.timeline import Effect, Reason

OK = Recorded(status="ok", result="a")


def look(number: int, **fields: Any) -> TraceStep:
    outcome = Recorded(status="ok", result=f"text {number}")
    return TraceStep(
        tool="look", args={"n": f"p-{number}"}, effect=Effect.READ, outcome=outcome, **fields
    )


def event(kind: str, **args: Any) -> TraceStep:
    return TraceStep(tool=f"@{kind}", event=kind, args=args, effect=Effect.READ, outcome=OK)


def replayed(*steps: TraceStep, **limits: Any) -> tuple[int | None, Reason | None]:
    trace = Trace(id="t", steps=steps, budgets=Limits(**limits))
    verdict = replay_trace(trace, Settings())
    return verdict.step, verdict.reason


def test_each_run_has_limits_of_its_own() -> None:
    steps = (look(1), look(2), event("new_run"), look(3), look(4))

    assert replayed(*steps, tool_calls=2) == (None, None)
    assert replayed(look(1), look(2), look(3), tool_calls=2) == (3, Reason.TOOL_CALL_BUDGET)


@pytest.mark.parametrize("seconds", [(0.1, 0.1, 0.1), (20.1, 19.9, 19.7, 0.3), (0.25, 0.25)])
def test_what_ends_at_the_deadline_was_not_late(seconds: tuple[float, ...]) -> None:
    steps = [look(number, elapsed_s=each) for number, each in enumerate(seconds)]

    assert replayed(*steps, deadline_s=round(sum(seconds), 6)) == (None, None)


def test_what_is_still_running_at_the_deadline_is_interrupted() -> None:
    steps = (look(1, elapsed_s=1), look(2, elapsed_s=40))

    assert replayed(*steps, deadline_s=30) == (2, Reason.DEADLINE)


def test_request_without_a_call_takes_its_turn_and_its_time() -> None:
    request = TraceStep(
        tool=MODEL_REQUEST, event="model_request", effect=Effect.READ, outcome=OK, elapsed_s=100.0
    )

    assert replayed(request, look(1), turns=1) == (2, Reason.TURN_BUDGET)
    assert replayed(request, look(1), deadline_s=50) == (2, Reason.DEADLINE)


def test_replay_ends_at_the_first_refusal() -> None:
    pay = [
        TraceStep(
            tool="pay",
            args={"order": order},
            effect=Effect.WRITE,
            outcome=Recorded(status="ok", result={"id": number}, applied=True),
        )
        for number, order in enumerate(("O-1", "O-1", "O-2"))
    ]

    verdict = replay_trace(Trace(id="t", steps=tuple(pay)), Settings())

    assert (verdict.step, verdict.reason) == (2, Reason.DUPLICATE_WRITE)
    assert verdict.executed_writes == 1
    assert verdict.steps == 3
    assert verdict.evidence == (1,)


def test_cost_that_is_never_told_is_unknown() -> None:
    steps = [look(number) for number in range(6)]

    step, reason = replayed(*steps, cost_usd=Decimal(5))

    assert (step, reason) == (3, Reason.COST_UNKNOWN)
