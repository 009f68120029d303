"""The project's own format: what is read of it, and what is said about what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.trace import Limits, Recorded, Trace, TraceStep
from pytest_tripwire.timeline import Effect, Reason

Make = Callable[..., Any]


def test_every_field_of_a_run_is_read(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    step = call(
        agent="billing",
        effect="write",
        cost_usd=0.1,
        elapsed_s=2,
        at_s=7.5,
        turn=3,
        plan="I will pay",
        repeat=4,
        forced=True,
        mtime=5,
        reconciles=1,
        authoritative=True,
        text="paying",
        prompt_tokens=10,
        completion_tokens=2,
        outcome={"status": "timeout", "error": "slow", "resource_version": 2, "applied": True},
    )
    run = recorded(
        trace=[step],
        hints={"look": {"poll": True}},
        budgets={
            "turns": 9,
            "deadline_s": 60,
            "cost_usd": 0.25,
            "tool_calls": 8,
            "side_effects": 7,
        },
        expect={"interrupted": True, "reason": "deadline", "also_accept": ["cost_budget"]},
        kind="hostile",
        hazard="deadline",
        needs_hints=True,
        workflow="billing",
    )

    (trace,) = items(written("run.json", run))

    (read,) = trace.steps
    assert read.outcome == Recorded(
        status="timeout", error="slow", resource_version=2, applied=True
    )
    assert read.effect is Effect.WRITE
    assert read.cost_usd == Decimal("0.1")
    alike = set(step) - {"outcome", "effect", "cost_usd"}
    assert {name: getattr(read, name) for name in alike} == {name: step[name] for name in alike}
    assert trace.budgets == Limits(
        turns=9, deadline_s=60, cost_usd=Decimal("0.25"), tool_calls=8, side_effects=7
    )
    assert trace.expect.reason is Reason.DEADLINE
    assert trace.expect.also_accept == (Reason.COST_BUDGET,)
    assert (trace.hints, trace.kind, trace.hazard) == (
        {"look": {"poll": True}},
        "hostile",
        "deadline",
    )
    assert (trace.needs_hints, trace.workflow, trace.line) == (True, "billing", 1)
    assert trace.source.endswith("run.json")


def test_what_is_left_out_is_as_if_it_had_not_happened(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    (trace,) = items(written("run.json", recorded(trace=[call()])))

    assert trace.steps == (
        TraceStep(
            tool="look",
            args={"order": "A-1"},
            effect=Effect.READ,
            outcome=Recorded(status="ok", result={"state": "open"}),
        ),
    )
    assert msgspec.structs.replace(trace, source="", line=None) == Trace(
        id="run-1", steps=trace.steps
    )


def test_numbers_may_be_as_large_as_makes_sense(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    large = call(cost_usd=10**9, elapsed_s=0, prompt_tokens=0, repeat=10**7)

    (trace,) = items(
        written("run.json", recorded(trace=[large], budgets={"cost_usd": 0, "turns": 0}))
    )

    assert (trace.length, trace.steps[0].cost_usd) == (10**7, 10**9)
    assert (trace.budgets.cost_usd, trace.budgets.turns) == (0, 0)


def test_fields_that_nobody_knows_are_left_out(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    path = written("run.json", recorded(trace=[call(mood="good")], colour="red"))

    (trace,) = items(path)

    assert isinstance(trace, Trace)


def test_what_was_not_recorded_is_known_to_be_unknown(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    silent = call(outcome={"status": "ok"})
    del silent["args"]
    failed = call(outcome={"status": "error", "error": "no"})
    empty = call(args={}, outcome={"status": "ok", "result": None})

    (trace,) = items(written("run.json", recorded(trace=[silent, failed, empty])))

    assert [step.args_known for step in trace.steps] == [False, True, True]
    assert [step.result_known for step in trace.steps] == [False, True, True]


def test_an_event_needs_neither_arguments_nor_outcome(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    path = written("run.json", recorded(trace=[{"tool": "@resume", "event": "resume"}, call()]))

    (trace,) = items(path)

    assert [step.is_event for step in trace.steps] == [True, False]
    assert trace.steps[0].args_known


def test_money_is_read_as_it_is_written(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    text = json.dumps(recorded(trace=[call(cost_usd="?")])).replace(
        '"?"', "0.1000000000000000055511151231257827"
    )

    (trace,) = items(written("run.json", text))

    assert str(trace.steps[0].cost_usd) == "0.1000000000000000055511151231257827"


def test_a_million_repeats_are_one_step_until_somebody_counts_them(
    recorded: Make, call: Make, written: Make, items: Make
) -> None:
    (trace,) = items(written("run.json", recorded(trace=[call(repeat=1_000_000)])))

    assert len(trace.steps) == 1
    assert trace.length == 1_000_000
    assert next(trace.expanded())[0] == 1


WRONG_RUNS: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "no id": (lambda run: run.pop("id"), "missing required field `id`"),
    "an empty id": (lambda run: run.update(id=""), "`$.id`"),
    "an id that is a number": (lambda run: run.update(id=7), "got `int` - at `$.id`"),
    "no steps": (lambda run: run.update(trace=[]), "0 steps"),
    "steps that are none": (lambda run: run.update(trace="x"), "`$.trace`"),
    "an unknown effect": (
        lambda run: run["trace"][0].update(effect="delete"),
        "'delete' - at `$.trace[0].effect`",
    ),
    "an unknown status": (
        lambda run: run["trace"][0]["outcome"].update(status="fine"),
        "'fine' - at `$.trace[0].outcome.status`",
    ),
    "no outcome": (lambda run: run["trace"][0].pop("outcome"), "missing required field `outcome`"),
    "no tool": (lambda run: run["trace"][0].pop("tool"), "missing required field `tool`"),
    "arguments in a list": (lambda run: run["trace"][0].update(args=[1]), "$.trace[0].args"),
    "time that runs back": (lambda run: run["trace"][0].update(elapsed_s=-1), "elapsed_s"),
    "no repeat": (lambda run: run["trace"][0].update(repeat=0), "`int` >= 1"),
    "a repeat without end": (lambda run: run["trace"][0].update(repeat=10**12), "`int` <="),
    "repeats without end in all": (
        lambda run: run.update(trace=[{**run["trace"][0], "repeat": 10**7}] * 2),
        "20000000 steps",
    ),
    "money that is owed": (lambda run: run["trace"][0].update(cost_usd=-0.5), "US dollars"),
    "a cent too much": (lambda run: run["trace"][0].update(cost_usd=10**9 + 1), "US dollars"),
    "a limit of money that is none": (
        lambda run: run.update(budgets={"cost_usd": "NaN"}),
        "US dollars",
    ),
    "a step too much": (lambda run: run["trace"][0].update(repeat=10**7 + 1), "`int` <="),
    "money without end": (lambda run: run["trace"][0].update(cost_usd="1e999999"), "US dollars"),
    "money that is none": (lambda run: run["trace"][0].update(cost_usd="NaN"), "US dollars"),
    "a limit below zero": (lambda run: run.update(budgets={"turns": -1}), "$.budgets.turns"),
    "an unknown reason": (
        lambda run: run.update(expect={"interrupted": True, "reason": "mood"}),
        "'mood' - at `$.expect.reason`",
    ),
    "an unknown kind": (lambda run: run.update(kind="odd"), "'odd' - at `$.kind`"),
}


@pytest.mark.parametrize("wrong", WRONG_RUNS)
def test_a_run_is_found_wrong_for(wrong: str, recorded: Make, written: Make, items: Make) -> None:
    run = recorded()
    change, complaint = WRONG_RUNS[wrong]
    change(run)

    problem, after = items(written("runs.jsonl", [run, recorded("after")]))

    assert isinstance(problem, Problem)
    assert complaint in problem.reason
    assert (problem.file[-10:], problem.line) == ("runs.jsonl", 1)
    assert after.id == "after"
