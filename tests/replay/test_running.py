"""What is filled in before a run is replayed, and what is said where that cannot be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker import RunBudget
from pytest_tripwire.replay.budgets import Budgets
from pytest_tripwire.replay.prepare import prepared, undeclared
from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.run import Replayed, run
from pytest_tripwire.replay.seen import Seen
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import Recorded, TraceVerdict
from pytest_tripwire.timeline import Effect, ToolSpec

Make = Callable[..., Any]

DECLARED = Settings(specs={"look": ToolSpec(name="look", effect=Effect.WRITE, identity=("order",))})


class TestEffect:
    """Declared by the team, said by the trace, or by default."""

    @pytest.mark.parametrize(
        ("said", "settings", "effect"),
        [
            (None, Settings(), None),
            (Effect.READ, Settings(), Effect.READ),
            (Effect.READ, DECLARED, Effect.WRITE),
            (None, DECLARED, Effect.WRITE),
            (None, Settings(default_effect=Effect.READ), Effect.READ),
            (Effect.WRITE, Settings(default_effect=Effect.READ), Effect.WRITE),
        ],
    )
    def test_is_found_in_this_order(
        self, said: Effect | None, settings: Settings, effect: Effect | None, trace: Make
    ) -> None:
        one = trace({"effect": said})

        assert undeclared(one, settings) == (("look",) if effect is None else ())
        assert prepared(one, settings).steps[0].effect is effect

    def test_of_an_event_is_not_asked_for(self, trace: Make) -> None:
        assert undeclared(trace({"tool": "@resume", "effect": None}), Settings()) == ()


def test_a_trace_that_lacks_nothing_stays_as_it_is(trace: Make) -> None:
    one = trace({}, {"tool": "@resume"})

    assert prepared(one, Settings()) is one


def test_what_was_not_recorded_is_never_twice_the_same(trace: Make) -> None:
    silent = {"args_known": False, "result_known": False, "outcome": Recorded(status="ok")}

    steps = prepared(trace(silent, silent, {}), Settings()).steps

    assert steps[0].args != steps[1].args
    assert steps[0].outcome.result != steps[1].outcome.result
    assert steps[2].outcome.result == {"state": "open"}


@pytest.mark.parametrize(
    ("effect", "status", "said", "applied"),
    [
        (Effect.WRITE, "ok", None, True),
        (Effect.WRITE, "ok", False, False),
        (Effect.WRITE, "timeout", None, None),
        (Effect.WRITE, "timeout", True, True),
        (Effect.READ, "ok", None, None),
    ],
)
def test_a_write_that_came_back_well_has_had_its_effect(
    effect: Effect, status: str, said: Any, applied: Any, trace: Make
) -> None:
    outcome = Recorded(status=status, applied=said)

    (step,) = prepared(trace({"effect": effect, "outcome": outcome}), Settings()).steps

    assert step.outcome.applied is applied


def test_an_unknown_identity_is_no_other_unknown_identity(trace: Make) -> None:
    steps = prepared(trace({"args_known": False}, {"args_known": False}), DECLARED).steps

    assert steps[0].args["order"] != steps[1].args["order"]


def ran(items: list[Any], replay: Any, **fields: Any) -> list[Any]:
    settings = fields.pop("settings", Settings())
    return list(run(items, settings=settings, replay=replay, **fields))


def test_each_trace_gets_its_verdict_and_problems_pass(trace: Make, stop_at_repeat: Make) -> None:
    problem = Problem(file="x", reason="broken")

    first, second, third = ran([trace({}, {}), problem, trace(id="run-2")], stop_at_repeat)

    assert (first.verdict.id, first.verdict.step) == ("run-1", 2)
    assert second is problem
    assert not third.verdict.interrupted


def test_what_was_not_recorded_is_counted(trace: Make, stop_at_repeat: Make) -> None:
    (found,) = ran(
        [
            trace(
                {"args_known": False, "repeat": 3},
                {"result_known": False},
                {"tool": "@resume", "args_known": False},
            )
        ],
        stop_at_repeat,
    )

    assert (found.args_unknown, found.results_unknown) == (3, 1)


def test_an_undeclared_tool_is_told_once_with_the_lines_to_write(
    trace: Make, stop_at_repeat: Make
) -> None:
    silent = [
        trace({"effect": None}, {"tool": "pay it", "effect": None}, id=str(n), line=n)
        for n in range(1, 4)
    ]

    good, look, pay = ran([*silent, trace(id="good")], stop_at_repeat)

    assert good.verdict.id == "good"
    assert (look.file, look.line) == ("runs.jsonl", 1)
    assert "does, so 3 traces were not replayed; " in look.reason
    assert 'tools.look.effect = "write" (or "read", or "handoff")' in look.reason
    assert 'tools."pay it".effect = ' in pay.reason


def test_of_very_many_undeclared_tools_not_all_are_told(trace: Make, stop_at_repeat: Make) -> None:
    found = ran([trace(*({"tool": str(n), "effect": None} for n in range(150)))], stop_at_repeat)

    assert len(found) == 101
    assert found[-1].reason.startswith("50 more tools")


def test_of_two_traces_with_one_id_the_second_is_a_problem(
    trace: Make, stop_at_repeat: Make
) -> None:
    first, second = ran([trace(), trace(line=2)], stop_at_repeat)

    assert isinstance(first, Replayed)
    assert (second.line, "'run-1' was read before" in second.reason) == (2, True)


def test_a_trace_that_breaks_the_engine_costs_no_other(trace: Make, stop_at_repeat: Make) -> None:
    def breaks(one: Any, settings: Settings) -> TraceVerdict:
        if one.id == "bad":
            raise ValueError("\ud800")
        return stop_at_repeat(one, settings)  # type: ignore[no-any-return]

    bad, good = ran([trace(id="bad", line=7), trace(id="good")], breaks)

    assert isinstance(bad, Problem)
    assert (bad.line, "bad could not be replayed: ValueError: ?" in bad.reason) == (7, True)
    assert bad.reason.encode()
    assert good.verdict.id == "good"


def test_each_class_is_replayed_with_its_own_budget(trace: Make, stop_at_repeat: Make) -> None:
    seen = {}

    def notes(one: Any, settings: Settings) -> TraceVerdict:
        seen[one.id] = settings.budget
        return stop_at_repeat(one, settings)  # type: ignore[no-any-return]

    small, large = RunBudget(max_turns=1), RunBudget(max_turns=9)
    runs = [trace(id="a", workflow="large"), trace(id="b"), trace(id="c", workflow="other")]

    found = ran(runs, notes, budgets=Budgets(classes={"large": large, "default": small}))

    assert seen == {"a": large, "b": small, "c": None}
    assert "no budget for the class 'other', so 1 trace was replayed" in found[-1].reason
    assert len(ran(runs, notes, budgets=Budgets(plain=small))) == 3


def test_without_budgets_that_of_the_settings_holds(trace: Make, stop_at_repeat: Make) -> None:
    seen = []

    def notes(one: Any, settings: Settings) -> TraceVerdict:
        seen.append(settings.budget)
        return stop_at_repeat(one, settings)  # type: ignore[no-any-return]

    ran([trace()], notes, settings=Settings(budget=RunBudget(max_turns=4)))

    assert seen == [RunBudget(max_turns=4)]


@given(st.lists(st.text()))
def test_an_id_is_new_once(texts: list[str]) -> None:
    seen = Seen()

    assert [text for text in texts if seen.is_new(text)] == list(dict.fromkeys(texts))
    seen.close()
