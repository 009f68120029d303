"""Budgets read off runs that went well: they stop none of them, and are not wider than asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import RunBudget
from pytest_tripwire.replay import tables
from pytest_tripwire.replay.budgets import budgets_of
from pytest_tripwire.replay.declared import Declared
from pytest_tripwire.replay.drive import replay_trace
from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.suggest import Collected, as_toml, collect, suggestions, use_of
from pytest_tripwire.replay.suggest.collect import History
from pytest_tripwire.replay.trace import MODEL_REQUEST, Expect, Recorded, Trace, TraceStep
from pytest_tripwire.timeline import Effect, Family, ToolSpec

Make = Callable[..., Any]

QUARTER = Decimal("0.25")


def use(one: Trace, **settings: Any) -> Any:
    return use_of(one, Declared(one, Settings(**settings)).of)


def collected(*traces: Trace) -> Collected:
    found = Collected()
    for one in traces:
        found.add(use(one))
    return found


def limits(margin: Decimal, *traces: Trace) -> dict[str, Any]:
    return {each.field: each.value for each in suggestions(collected(*traces), margin)}


class TestUse:
    """What one run has used."""

    def test_turns_are_the_requests_and_the_one_that_gave_the_answer(self, trace: Make) -> None:
        steps = [{"turn": 1}, {"turn": 1}, {"turn": 2}, {}, {"repeat": 3}, {"tool": "@resume"}]

        assert use(trace(*steps)).turns == 2 + 1 + 3 + 1

    def test_an_answer_that_was_recorded_is_not_counted_twice(self, trace: Make) -> None:
        assert use(trace({"turn": 1}, {"tool": MODEL_REQUEST, "turn": 2})).turns == 2

    def test_a_turn_that_is_come_back_to_is_another_one(self, trace: Make) -> None:
        assert use(trace({"turn": 1}, {"turn": 2}, {"turn": 1})).turns == 4

    def test_calls_and_writes_are_counted_as_often_as_they_occur(self, trace: Make) -> None:
        found = use(
            trace({"repeat": 1_000_000}, {"effect": Effect.WRITE, "repeat": 2}, {"tool": "@crash"})
        )

        assert (found.tool_calls, found.side_effects) == (1_000_002, 2)

    def test_the_same_call_is_known_by_its_intent(self, trace: Make) -> None:
        steps = [{"args": {"order": "A", "request_id": str(n)}} for n in range(3)]
        other = {"args": {"order": "B"}}

        assert use(trace(*steps, other)).same_intent == 3

    def test_what_is_declared_says_what_is_the_same(self, trace: Make) -> None:
        steps = [{"args": {"order": "A", "words": str(n)}} for n in range(3)]
        spec = ToolSpec(name="look", effect=Effect.READ, wording=("words",))

        assert use(trace(*steps)).same_intent == 1
        assert use(trace(*steps), specs={"look": spec}).same_intent == 3

    def test_without_arguments_nobody_knows_what_is_the_same(self, trace: Make) -> None:
        assert use(trace({"args_known": False}, {})).same_intent is None

    def test_money_has_to_be_left_for_what_the_cheapest_request_has_cost(self, trace: Make) -> None:
        dear_first = trace(
            {"turn": 1, "cost_usd": Decimal(10)}, {"turn": 2, "cost_usd": Decimal(1)}
        )

        assert use(dear_first).cost_usd == 20
        assert use(trace({"cost_usd": Decimal(1)}, {"cost_usd": Decimal(10)})).cost_usd == 11
        assert use(trace({"cost_usd": Decimal(3), "repeat": 4})).cost_usd == 12

    def test_a_request_that_was_free_says_nothing_about_the_next(self, trace: Make) -> None:
        costs = {"a": Decimal(0), "b": Decimal(5), "c": Decimal(1)}

        found = use(trace(*({"tool": tool, "cost_usd": cost} for tool, cost in costs.items())))

        assert found.cost_usd == 5 + 5

    def test_a_turn_without_cost_leaves_it_unknown(self, trace: Make) -> None:
        one = trace({"turn": 1, "cost_usd": Decimal(1)}, {"turn": 1})

        assert use(one).cost_usd == 1
        assert use(trace({"cost_usd": Decimal(1)}, {})).cost_usd is None

    def test_what_a_tool_costs_is_added(self, trace: Make) -> None:
        priced = ToolSpec(name="look", effect=Effect.READ, cost_field="price")
        fixed = ToolSpec(name="look", effect=Effect.READ, cost=Decimal("0.5"))
        one = trace({"cost_usd": Decimal(1), "outcome": Recorded(status="ok", result={"price": 2})})

        assert use(one, specs={"look": priced}).cost_usd == 3
        assert use(trace({}, {}, {}), specs={"look": fixed}).cost_usd == Decimal("1.5")

    def test_calls_side_by_side_are_each_reserved_for(self, trace: Make) -> None:
        one = trace(
            {"turn": 1, "cost_usd": Decimal(2)}, {"turn": 2, "cost_usd": Decimal(0), "repeat": 3}
        )

        assert use(one).cost_usd == 2 + 3 * 2

    def test_tokens_are_those_of_prompts_and_answers(self, trace: Make) -> None:
        step = {"prompt_tokens": 10, "completion_tokens": 3}

        assert use(trace({"turn": 1, **step}, {"turn": 1}, {"prompt_tokens": 5})).tokens == 18
        assert use(trace(step, {})).tokens is None

    def test_time_ends_with_the_last_step(self, trace: Make) -> None:
        assert use(trace({"elapsed_s": 2.0, "repeat": 3}, {})).elapsed_s == 6
        assert use(trace({"at_s": 5.0, "elapsed_s": 2.0})).elapsed_s == 7
        assert use(trace({})).elapsed_s is None


class TestLimits:
    """From what was used to limits."""

    def test_the_margin_is_laid_on_top_and_rounded_up(self, trace: Make) -> None:
        found = limits(QUARTER, trace({"repeat": 14, "effect": Effect.WRITE}), trace({"repeat": 3}))

        assert (found["max_tool_calls"], found["max_side_effects"]) == (18, 18)
        assert found["max_turns"] == 19

    def test_what_was_never_done_is_not_allowed(self, trace: Make) -> None:
        assert limits(QUARTER, trace())["max_side_effects"] == 0

    def test_time_and_money_and_tokens_are_above_what_was_used(self, trace: Make) -> None:
        found = limits(
            Decimal(0),
            trace({"elapsed_s": 2.0, "cost_usd": Decimal("0.123"), "prompt_tokens": 9}),
        )

        assert found["deadline_s"] == 3
        assert found["max_model_cost_usd"] == Decimal("0.124")
        assert found["max_tokens"] == 10

    def test_what_one_run_does_not_tell_is_not_suggested(self, trace: Make) -> None:
        told = trace({"elapsed_s": 2.0, "cost_usd": Decimal(1), "prompt_tokens": 9})

        found = limits(QUARTER, told, trace({"args_known": False}))

        silent = ("deadline_s", "max_model_cost_usd", "max_tokens", "max_same_intent")
        assert [found[name] for name in silent] == [None] * 4

    def test_what_took_no_time_sets_no_deadline(self, trace: Make) -> None:
        assert limits(QUARTER, trace({"elapsed_s": 0.0}))["deadline_s"] is None


def test_the_file_says_for_each_line_how_it_comes_about(trace: Make) -> None:
    text = "\n".join(
        as_toml({"re search": collected(trace({"repeat": 14, "elapsed_s": 1.5}))}, QUARTER)
    )

    assert '[classes."re search"]' in text
    assert "max_tool_calls = 18  # seen max 14, margin 25 %" in text
    assert "deadline_s = 27  # seen max 21 s, margin 25 %" in text
    assert "# max_tokens: not suggested: 1 of 1 runs do not say how many tokens" in text
    assert tables.parse(text, "x")["classes"]["re search"]["max_tool_calls"] == 18


class TestCollect:
    """Which runs budgets are read off."""

    def history(self, *items: Any, name: str | None = None, **settings: Any) -> Any:
        history = History()
        passed = list(collect(items, history, settings=Settings(**settings), name=name))
        return history, passed

    def test_each_class_for_itself(self, trace: Make) -> None:
        history, _ = self.history(
            trace({"repeat": 3}, id="a", workflow="x"), trace(id="b"), trace(id="c", workflow="x")
        )

        assert {name: each.runs for name, each in history.classes.items()} == {"x": 2, "default": 1}
        assert history.classes["x"].most("tool_calls") == 3

    def test_or_all_in_one_class_that_is_named(self, trace: Make) -> None:
        history, _ = self.history(trace(id="a", workflow="x"), trace(id="b"), name="y")

        assert list(history.classes) == ["y"]

    def test_not_those_that_should_have_been_stopped(self, trace: Make) -> None:
        history, passed = self.history(
            trace(id="a", kind="hostile"),
            trace(id="b", expect=Expect(interrupted=True)),
            trace(id="c", kind="legit"),
        )

        assert (history.hostile, [each.id for each in passed]) == (2, ["c"])

    def test_not_those_of_which_nobody_says_what_they_do(self, trace: Make) -> None:
        history, (problem,) = self.history(trace({"effect": None}))

        assert (history.classes, isinstance(problem, Problem)) == ({}, True)

    def test_not_those_that_break_what_they_are_fed_to(self, trace: Make) -> None:
        history, (problem,) = self.history(trace(hints={"resource_patterns": {"look": ["("]}}))

        assert (history.classes, "could not be replayed" in problem.reason) == ({}, True)


money = st.decimals(0, 100, places=4)
seconds = st.floats(0, 1000, allow_nan=False)


@st.composite
def runs(draw: st.DrawFn) -> Trace:
    """A run that tells everything."""
    steps = draw(
        st.lists(
            st.builds(
                TraceStep,
                tool=st.sampled_from(["look", "pay"]),
                args=st.dictionaries(st.just("n"), st.integers(0, 3)),
                effect=st.sampled_from([Effect.READ, Effect.WRITE]),
                outcome=st.builds(Recorded, status=st.just("ok"), result=st.integers()),
                turn=st.none() | st.integers(1, 4),
                repeat=st.integers(1, 3),
                cost_usd=money,
                elapsed_s=seconds,
                prompt_tokens=st.integers(0, 1000),
            ),
            min_size=1,
            max_size=8,
        )
    )
    return Trace(id=draw(st.uuids()).hex, steps=tuple(steps))


def suggested(traces: list[Trace], margin: Decimal) -> RunBudget:
    """The budget that is suggested, by way of its text."""
    text = "\n".join(as_toml({"default": collected(*traces)}, margin))
    return budgets_of(tables.parse(text, "x"), "x").picked("default")


def counted(one: Trace, budget: RunBudget) -> list[str]:
    """Which limits a run meets, by plain counting, a breaker's reservations included."""
    met = []
    calls, writes, turns, tokens = 0, 0, 0, 0
    spent, lowest, elapsed = Decimal(0), Decimal(0), 0.0
    request = Decimal(0)
    done: Counter[str] = Counter()
    before: Any = object()
    for _, step in one.expanded():
        if step.turn is None or step.turn != before:
            # What is reserved for a request is the least that a whole one has cost, and a request
            # may be told in several steps.
            lowest = min(lowest or request, request)
            request = Decimal(0)
            turns += 1
            met += ["cost"] * (spent + lowest > (budget.max_model_cost_usd or 0))
        before = step.turn if step.turn is not None else object()
        calls += 1
        writes += step.effect is Effect.WRITE
        done[f"{step.tool}{step.args}"] += 1
        spent += step.cost_usd or Decimal(0)
        request += step.cost_usd or Decimal(0)
        tokens += step.prompt_tokens or 0
        elapsed += step.elapsed_s or 0.0
    turns += 1
    met += ["cost"] * (budget.max_model_cost_usd is not None and spent >= budget.max_model_cost_usd)
    met += ["deadline"] * (budget.deadline_s is not None and elapsed >= budget.deadline_s)
    met += ["tokens"] * (budget.max_tokens is not None and tokens >= budget.max_tokens)
    met += ["calls"] * (calls > (budget.max_tool_calls or 0))
    met += ["writes"] * (writes > (budget.max_side_effects or 0))
    met += ["turns"] * (turns > (budget.max_turns or 0))
    met += ["same"] * (max(done.values()) > (budget.max_same_intent or 0))
    return met


margins = st.sampled_from([Decimal(0), Decimal("0.01"), QUARTER, Decimal(3)])


@settings(max_examples=50, deadline=None)
@given(st.lists(runs(), min_size=1, max_size=4), margins)
def test_no_budget_stops_a_run_that_it_was_read_off(traces: list[Trace], margin: Decimal) -> None:
    budget = suggested(traces, margin)

    assert [counted(one, budget) for one in traces] == [[] for _ in traces]


@settings(max_examples=50, deadline=None)
@given(st.lists(runs(), min_size=1, max_size=3))
def test_nor_does_the_breaker_itself_stop_it_for_a_budget(traces: list[Trace]) -> None:
    chosen = Settings(budget=suggested(traces, Decimal(0)))

    for one in traces:
        verdict = replay_trace(one, chosen)
        assert verdict.reason is None or verdict.reason.family is not Family.BUDGET


@settings(max_examples=50, deadline=None)
@given(st.lists(runs(), min_size=1, max_size=4), margins)
def test_no_count_is_wider_than_was_asked_for(traces: list[Trace], margin: Decimal) -> None:
    budget = suggested(traces, margin)
    most = [max(getattr(use(one), name) for one in traces) for name in ("tool_calls", "turns")]

    for limit, used in zip((budget.max_tool_calls, budget.max_turns), most, strict=True):
        assert limit is not None
        assert used <= limit < used * (1 + margin) + 1


@pytest.mark.parametrize("margin", [Decimal(0), QUARTER])
def test_without_margin_the_budget_is_what_was_used(margin: Decimal, trace: Make) -> None:
    budget = suggested([trace({"repeat": 4})], margin)

    assert budget.max_tool_calls == (4 if margin == 0 else 5)
