"""What a team writes in TOML: declarations of tools, and budgets."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.breaker import RunBudget
from pytest_tripwire.replay.budgets import Budgets, budgets_of
from pytest_tripwire.replay.declarations import key, specs_of
from pytest_tripwire.replay.settings import budget_of
from pytest_tripwire.replay.tables import TableError, load, parse
from pytest_tripwire.replay.trace import Limits
from pytest_tripwire.timeline import Effect, ToolSpec

ALL_OF_A_TOOL = """
[tools.pay]
effect = "write"
operation = "payment"
identity = ["invoice"]
wording = ["note"]
volatile = ["attempt"]
poll = false
requires_approval = true
result_id = "payment_id"
reconcile = "find_payment"
late_effect_s = 2.5
definite_failures = ["CardDeclined"]
expected_duration_s = 3
cost = 0.1
cursor = ["page"]
"""


def specs(text: str) -> dict[str, ToolSpec]:
    return specs_of(parse(text, "t.toml"), "t.toml")


def budgets(text: str) -> Budgets:
    return budgets_of(parse(text, "t.toml"), "t.toml")


def test_any_field_of_a_declaration_may_be_said() -> None:
    declared = specs(ALL_OF_A_TOOL)

    assert declared == {
        "pay": ToolSpec(
            name="pay",
            effect=Effect.WRITE,
            operation="payment",
            identity=("invoice",),
            wording=("note",),
            volatile=("attempt",),
            requires_approval=True,
            result_id="payment_id",
            reconcile="find_payment",
            late_effect_s=2.5,
            definite_failures=("CardDeclined",),
            expected_duration_s=3,
            cost=Decimal("0.1"),
            cursor=("page",),
        )
    }


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (field, said)
        for field in ToolSpec.__struct_fields__[2:]
        for said in ('"x"', '["x"]', "true", "1")
    ],
)
def test_a_field_takes_a_value_or_says_why_not(field: str, said: str) -> None:
    complaint = None
    try:
        declared = specs(f'[tools.pay]\neffect = "write"\n{field} = {said}')
    except TableError as error:
        complaint = str(error)

    if complaint is None:
        assert getattr(declared["pay"], field) is not None
    else:
        assert complaint.startswith("t.toml: tools.pay")
        assert field in complaint


def test_each_field_takes_some_value() -> None:
    taken = set()
    for field in ToolSpec.__struct_fields__[2:]:
        for said in ('"x"', '["x"]', "true", "1"):
            with contextlib.suppress(TableError):
                specs(f'[tools.pay]\neffect = "write"\n{field} = {said}')
                taken.add(field)

    assert taken == set(ToolSpec.__struct_fields__[2:])


WRONG_SPECS = {
    "no effect": ("[tools.pay]\npoll = true", 'say what the tool does: effect is one of "read"'),
    "an unknown effect": ('[tools.pay]\neffect = "delete"', "tools.pay.effect = 'delete'"),
    "a slip of the pen": ('[tools.pay]\neffect = "read"\nvolatil = ["x"]', "mean `volatile`?"),
    "a tool that is no table": ("[tools]\npay = 1", "tools.pay: this has to be a table, not 1"),
    "an unknown table": (
        "[tool.pay]\neffect = 'read'",
        "there is no `tool`; did you mean `tools`?",
    ),
    "no tool": ("", "write a table [tools.NAME]"),
    "no TOML": ("[tools", "t.toml: no TOML: "),
    "a pattern that is none": (
        '[tools.sh]\neffect = "write"\nresource_patterns = ["("]',
        "tools.sh: ",
    ),
}


@pytest.mark.parametrize("wrong", WRONG_SPECS)
def test_a_declaration_is_found_wrong_for(wrong: str) -> None:
    text, complaint = WRONG_SPECS[wrong]

    with pytest.raises(TableError) as caught:
        specs(text)

    assert complaint in str(caught.value)
    assert str(caught.value).startswith("t.toml: ")


def test_budgets_stand_in_one_table_or_in_one_for_each_class() -> None:
    found = budgets(
        "[budget]\nmax_turns = 9\nmax_model_cost_usd = 0.1\ndeadline_s = 1.5\n"
        "[classes.research]\nmax_turns = 30\nmax_model_cost_usd = 2\n"
        "[tools.look]\neffect = 'read'\n"
    )

    assert found.plain == RunBudget(max_turns=9, max_model_cost_usd=Decimal("0.1"), deadline_s=1.5)
    assert found.of("research") == RunBudget(max_turns=30, max_model_cost_usd=Decimal(2))
    assert found.of(None) == found.of("support") == found.plain
    assert found.picked("research") == found.of("research")


def test_a_run_without_class_has_the_default_one() -> None:
    found = budgets("[classes.default]\nmax_turns = 1\n[classes.x]\nmax_turns = 2")

    assert found.of(None) == RunBudget(max_turns=1)
    assert found.of("y") is None


WRONG_BUDGETS = {
    "a slip of the pen": ("[budget]\nmax_turn = 1", "Did you mean 'max_turns'?"),
    "a limit below zero": ("[budget]\nmax_turns = -1", "0 or more"),
    "half a turn": ("[budget]\nmax_turns = 1.5", "t.toml: budget: max_turns = 1.5"),
    "a text": ('[classes.x]\nmax_turns = "many"', "t.toml: classes.x: max_turns = 'many'"),
    "no number": ("[budget]\ndeadline_s = nan", "budget"),
    "no budget": ("[tools.x]\neffect = 'read'", "write a table [budget]"),
    "an unknown table": ("[budgets]\nmax_turns = 1\n[budget]", "did you mean `budget`?"),
    "a class that is no table": ("[classes]\nx = 1", "classes.x: this has to be a table"),
    "classes that are no table": ("classes = 1", "classes: this has to be a table"),
}


@pytest.mark.parametrize("wrong", WRONG_BUDGETS)
def test_a_budget_is_found_wrong_for(wrong: str) -> None:
    text, complaint = WRONG_BUDGETS[wrong]

    with pytest.raises(TableError) as caught:
        budgets(text)

    assert complaint in str(caught.value)


def test_a_class_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(TableError, match=r"no class 'z'.*\(x, y\)"):
        budgets("[classes.y]\n[classes.x]").picked("z")


@pytest.mark.parametrize("content", [None, b"\xff", b"["])
def test_a_file_that_cannot_be_used_is_told_by_name(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(TableError, match=r"t\.toml: (cannot be read|no TOML): "):
        load(str(path))


@given(st.text())
def test_any_name_can_be_a_key(name: str) -> None:
    assert parse(f"[tools.{key(name)}]", "t.toml") == {"tools": {name: {}}}


def test_limits_of_a_budget_replace_those_of_the_trace() -> None:
    own = Limits(turns=3, tool_calls=4, cost_usd=Decimal(1), deadline_s=5, side_effects=6)
    given = RunBudget(max_turns=9, max_same_intent=2)

    assert budget_of(own, None) == RunBudget(
        max_turns=3,
        max_tool_calls=4,
        max_model_cost_usd=Decimal(1),
        deadline_s=5,
        max_side_effects=6,
    )
    assert budget_of(own, given).max_turns == 9
    assert budget_of(own, given).max_tool_calls == 4
    assert budget_of(own, given).max_same_intent == 2


def test_a_limit_of_nothing_is_a_limit() -> None:
    assert budget_of(Limits(side_effects=5), RunBudget(max_side_effects=0)).max_side_effects == 0
