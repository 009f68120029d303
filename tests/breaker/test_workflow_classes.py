"""Workflow classes, limits from tables, and what a limit has to look like."""

from __future__ import annotations

import math
import re
import tomllib
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker.accounts import Accounts
from pytest_tripwire.breaker.budget import REASONS, Dimension, RunBudget, Usage
from pytest_tripwire.breaker.classes import (
    WORKFLOW_CLASSES,
    WorkflowClass,
    for_class,
    workflow_class,
)
from pytest_tripwire.breaker.limits import read_limit
from pytest_tripwire.timeline import Reason

COUNTS = sorted(
    set(RunBudget.__struct_fields__) - {"deadline_s", "max_model_cost_usd", "alert_share"}
)
NEW = ("max_consecutive_errors", "max_attempts_per_task", "max_calls_per_minute", "max_subagents")


# -- what a limit looks like


@pytest.mark.parametrize("name", NEW)
def test_there_is_a_limit(name: str) -> None:
    assert getattr(RunBudget(**{name: 3}), name) == 3
    assert getattr(RunBudget(), name) is None


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("bad", [-1, True, False, 1.5, 2.0, math.nan, "3", Decimal(2)])
def test_a_count_is_a_whole_number(name: str, bad: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"({name}={bad!r}: expected a whole number")):
        RunBudget(**{name: bad})


@pytest.mark.parametrize("bad", [-0.5, True, math.nan, math.inf, "60", Decimal(60)])
def test_a_deadline_is_in_seconds(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"RunBudget\(deadline_s=.*: expected seconds, 0 or more"):
        RunBudget(deadline_s=bad)


@pytest.mark.parametrize("bad", [-1, True, math.nan, Decimal("nan"), Decimal("-inf"), "dear", [1]])
def test_money_is_in_dollars(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"RunBudget\(max_model_cost_usd=.*: expected US dollars"):
        RunBudget(max_model_cost_usd=bad)


@pytest.mark.parametrize("bad", [None, -0.1, 1.1, 80, True, math.nan, "0.8"])
def test_a_share_is_no_percentage(bad: Any) -> None:
    with pytest.raises(
        ValueError, match=r"RunBudget\(alert_share=.*: expected a share from 0 to 1"
    ):
        RunBudget(alert_share=bad)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        *[(name, value) for name in COUNTS for value in (0, 1, None)],
        *[("deadline_s", value) for value in (0, 0.5, 60, None)],
        *[("max_model_cost_usd", value) for value in (0, Decimal(0), Decimal("0.5"), None)],
        *[("alert_share", value) for value in (0, 0.8, 1)],
    ],
)
def test_what_is_of_its_kind_is_taken(name: str, good: Any) -> None:
    assert getattr(RunBudget(**{name: good}), name) == good


def test_money_is_kept_as_it_was_written() -> None:
    for written in (0.1, "0.1", Decimal("0.1")):
        budget = RunBudget.from_mapping({"max_model_cost_usd": written})
        assert budget.max_model_cost_usd == Decimal("0.1")
        assert budget.limit(Dimension.MODEL_COST) == Decimal("0.1")
        assert RunBudget(max_model_cost_usd=written) == budget
    assert RunBudget.from_mapping({"max_model_cost_usd": 2}).limit(Dimension.MODEL_COST) == 2


@given(
    st.sampled_from(RunBudget.__struct_fields__),
    st.one_of(
        st.integers(), st.floats(), st.decimals(), st.booleans(), st.none(), st.text(max_size=5)
    ),
)
def test_whatever_is_given_is_a_limit_or_is_refused_by_name(name: str, value: Any) -> None:
    refused = ""
    try:
        kept = getattr(RunBudget(**{name: value}), name)
    except ValueError as error:
        refused = str(error)
    if refused:
        assert refused.startswith(f"RunBudget({name}={value!r}: expected ")
        return
    assert kept is None or kept >= 0
    assert not isinstance(kept, bool | str)
    assert read_limit(name, kept) == kept


def test_sub_agents_are_counted_like_anything_else() -> None:
    accounts = Accounts(RunBudget(max_subagents=1))
    one = {Dimension.SUBAGENTS: Decimal(1)}

    assert accounts.reserve(one) is None
    accounts.settle(Dimension.SUBAGENTS, reserved=Decimal(1), spent=Decimal(1))
    assert accounts.reserve(one) is Dimension.SUBAGENTS
    assert REASONS[Dimension.SUBAGENTS] is Reason.SUBAGENT_BUDGET


def test_every_dimension_is_a_limit_with_a_reason_of_its_own() -> None:
    assert {each.value for each in Dimension} <= set(RunBudget.__struct_fields__)
    assert set(REASONS) == set(Dimension)
    assert len(set(REASONS.values())) == len(Dimension)


# -- what a request used


@pytest.mark.parametrize("bad", [-1, True, math.nan, math.inf, "5", 1.5, [1]])
@pytest.mark.parametrize("name", ["prompt_tokens", "completion_tokens", "cached_tokens"])
def test_tokens_that_cannot_be_are_unknown(name: str, bad: Any) -> None:
    usage = Usage(**{name: bad})

    assert getattr(usage, name) is None
    assert usage.tokens == 0


def test_tokens_and_costs_are_kept_as_what_they_are() -> None:
    usage = Usage(prompt_tokens=10.0, completion_tokens=5, cost_usd=0.1)

    assert (usage.prompt_tokens, usage.tokens) == (10, 15)
    assert type(usage.prompt_tokens) is int
    assert usage.cost_usd == Decimal("0.1")
    assert Usage(cost_usd=Decimal("nan")).cost_usd is None


# -- classes


def test_the_classes_and_their_numbers() -> None:
    numbers = {
        name: [
            each.limits.get(field)
            for field in ("max_turns", "max_tool_calls", "max_side_effects", "max_subagents")
        ]
        for name, each in WORKFLOW_CLASSES.items()
    }

    assert numbers == {
        "simple_lookup": [12, 10, 0, 0],
        "research": [80, 160, 10, 3],
        "complex_research": [200, 400, 25, 10],
        "support": [30, 60, 5, 2],
        "financial_write": [12, 20, 2, 0],
    }


@pytest.mark.parametrize("name", WORKFLOW_CLASSES)
def test_a_class_has_limits_that_a_run_can_keep_and_none_in_money(name: str) -> None:
    budget = RunBudget.for_class(name)

    assert {key: getattr(budget, key) for key in for_class(name)} == for_class(name)
    assert budget.max_turns is not None
    assert budget.max_model_cost_usd is None
    assert budget.max_tokens is None
    assert workflow_class(name).what


def test_a_long_investigation_fits_into_research() -> None:
    research, complex_research = (
        RunBudget.for_class("research"),
        RunBudget.for_class("complex_research"),
    )

    assert research.max_turns is not None
    assert research.max_turns > 60
    assert complex_research.max_turns is not None
    assert complex_research.max_turns > research.max_turns


def test_writes_of_money_alone_ask_a_person() -> None:
    asking = [name for name, each in WORKFLOW_CLASSES.items() if each.approve_writes]

    assert asking == ["financial_write"]


def test_what_is_given_beside_a_class_goes_before_it() -> None:
    budget = RunBudget.for_class(
        "simple_lookup", max_tool_calls=25, deadline_s=None, max_model_cost_usd="0.50"
    )

    assert (budget.max_tool_calls, budget.deadline_s) == (25, None)
    assert budget.max_model_cost_usd == Decimal("0.50")
    assert budget.max_side_effects == 0


def test_what_a_class_gives_away_is_a_copy() -> None:
    for_class("support")["max_turns"] = 1

    assert for_class("support")["max_turns"] == 30


OWN = {
    "night_batch": {"max_turns": 500},
    "support": WorkflowClass(what="ours", limits={"max_turns": 3}, approve_writes=True),
}


def test_own_classes_are_added_and_go_before_built_in_ones() -> None:
    assert RunBudget.for_class("night_batch", classes=OWN) == RunBudget(max_turns=500)
    assert RunBudget.for_class("support", classes=OWN) == RunBudget(max_turns=3)
    assert RunBudget.for_class("support", classes=OWN, max_turns=4) == RunBudget(max_turns=4)
    assert workflow_class("support", OWN).approve_writes
    assert RunBudget.for_class("support") != RunBudget(max_turns=3)


def test_an_unknown_class_is_told_its_like_and_all_there_are() -> None:
    with pytest.raises(ValueError, match="no such workflow class") as told:
        RunBudget.for_class("suport", classes=OWN)

    assert "'suport'" in str(told.value)
    assert "Did you mean 'support'?" in str(told.value)
    assert "complex_research, financial_write, night_batch, research, " in str(told.value)


@pytest.mark.parametrize("name", [None, 3, ["support"], ""])
def test_what_is_no_name_is_told_so(name: Any) -> None:
    with pytest.raises(ValueError, match="no such workflow class"):
        RunBudget.for_class(name)


def test_what_is_wrong_in_a_class_of_ones_own_is_named() -> None:
    classes = {"mine": {"max_turn": 3, "class": "support", "max_tokens": "many"}}

    with pytest.raises(ValueError, match=r"^max_turn: ") as told:
        RunBudget.for_class("mine", classes=classes)

    assert "max_tokens = 'many': expected a whole number" in str(told.value)


def test_an_override_that_is_no_limit_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"max_turn: there is no such limit. Did you mean 'max_turns'"
    ):
        RunBudget.for_class("support", max_turn=3)


# -- tables


def test_a_table_of_toml_makes_a_budget() -> None:
    table = tomllib.loads(
        """
        class = "support"
        max_turns = 40
        deadline_s = 90.5
        max_model_cost_usd = "0.10"
        """
    )

    budget = RunBudget.from_mapping(table)

    assert budget == RunBudget.for_class(
        "support", max_turns=40, deadline_s=90.5, max_model_cost_usd=Decimal("0.10")
    )


def test_an_empty_table_sets_no_limit() -> None:
    assert RunBudget.from_mapping({}) == RunBudget()


@given(st.fixed_dictionaries({}, optional={name: st.integers(0, 99) for name in COUNTS}))
def test_a_budget_says_in_a_table_what_it_says_itself(table: dict[str, int]) -> None:
    budget = RunBudget.from_mapping(table)

    assert budget == RunBudget(**table)
    assert RunBudget.from_mapping(msgspec.structs.asdict(budget)) == budget


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("max_turn", 3, "max_turn: there is no such limit. Did you mean 'max_turns'? Limits: "),
        ("max-turns", 3, "max-turns: there is no such limit. Did you mean 'max_turns'?"),
        ("colour", 3, "colour: there is no such limit. Limits: alert_share, deadline_s, "),
        (7, 3, "7: there is no such limit. Limits: "),
        ("max_turns", "ten", "max_turns = 'ten': expected a whole number, 0 or more, or None"),
        ("max_turns", True, "max_turns = True: expected a whole number"),
        ("deadline_s", "1m", "deadline_s = '1m': expected seconds"),
        ("max_model_cost_usd", "1 EUR", "max_model_cost_usd = '1 EUR': expected US dollars"),
        ("class", "supprt", "class = 'supprt': there is no such workflow class. Did you mean"),
        ("class", 3, "class = 3: there is no such workflow class."),
    ],
)
def test_what_is_wrong_in_a_table_is_named(key: Any, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=r"expected|no such") as told:
        RunBudget.from_mapping({key: value, "max_tokens": 5})

    assert str(told.value).startswith(says)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ValueError, match="no such") as told:
        RunBudget.from_mapping({"class": "none", "max_turn": 3, "deadline_s": -1, "max_turns": 3})

    assert [line.split()[0].rstrip(":") for line in str(told.value).splitlines()] == [
        "class",
        "max_turn",
        "deadline_s",
    ]


@pytest.mark.parametrize("given", [None, 3, "max_turns = 3", [("max_turns", 3)]])
def test_what_is_no_table_is_told_so(given: Any) -> None:
    with pytest.raises(TypeError, match=rf"not a {type(given).__name__}"):
        RunBudget.from_mapping(given)
