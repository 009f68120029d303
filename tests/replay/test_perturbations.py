"""The changes to the corpus that should not matter: they change what they say, and no more."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from pytest_tripwire.replay.trace import Recorded, Trace

Make = Callable[..., Any]


@pytest.fixture(scope="module")
def perturb(sibling: Callable[[str], ModuleType]) -> Any:
    return sibling("perturb")


@pytest.fixture
def one(trace: Make) -> Trace:
    """A run with something for each change to find."""
    found: Trace = trace(
        {
            "args": {"order": "A-1", "words": "please", "b": {"y": 1, "x": 2}},
            "agent": "support",
            "repeat": 2,
        },
        {
            "tool": "pay",
            "args": {"order": "A-1"},
            "outcome": Recorded(status="error", error="CardDeclined: no 17"),
        },
        {
            "tool": "pay",
            "args": {"order": "A-2"},
            "outcome": Recorded(status="error", error="CardDeclined: no 18"),
        },
        {"tool": "pay", "args": {}, "outcome": Recorded(status="error", error="server is down")},
        {"tool": "@approve", "args": {"call": "2", "args_seen": {"order": "A-1"}}},
        hints={
            "identity": {"pay": ["order"], "look": "order"},
            "resource_patterns": {"look": {"words": "x"}},
            "reconcile": {"pay": "look"},
            "definite_failures": {"pay": ["CardDeclined"]},
            "operation": {"pay": "order"},
        },
    )
    return found


def steps(trace: Trace, name: str) -> list[Any]:
    return [getattr(step, name) for step in trace.steps]


def test_every_change_changes_something_and_keeps_what_is_expected(
    perturb: Any, one: Trace
) -> None:
    for name, change in perturb.CHANGES.items():
        changed = change(one)
        assert changed.id == one.id
        assert changed.length == one.length
        assert [step.effect for _, step in changed.expanded()] == [
            step.effect for _, step in one.expanded()
        ]
        assert repr(changed) != repr(one), name
        assert repr(change(one)) == repr(changed), f"{name} is not the same each time"


def test_tools_are_renamed_in_declarations_too(perturb: Any, one: Trace) -> None:
    changed = perturb.renamed_tools(one)

    look, pay, *_ = steps(changed, "tool")
    assert steps(changed, "tool") == [look, pay, pay, pay, "@approve"]
    assert not {"look", "pay"} & {look, pay}
    assert changed.hints["reconcile"] == {pay: look}
    assert changed.hints["identity"] == {pay: ["order"], look: "order"}


def test_arguments_are_renamed_in_declarations_too(perturb: Any, one: Trace) -> None:
    changed = perturb.renamed_arguments(one)

    order = next(iter(changed.steps[1].args))
    assert order != "order"
    assert changed.steps[4].args == {"call": "2", "args_seen": {order: "A-1"}}
    assert changed.hints["identity"] == {"pay": [order], "look": order}
    assert changed.hints["operation"] == {"pay": "order"}
    assert list(changed.hints["resource_patterns"]["look"]) == [list(changed.steps[0].args)[1]]
    assert list(changed.steps[0].args.values()) == list(one.steps[0].args.values())


@pytest.mark.parametrize(
    ("change", "name"), [("fresh_nonce", "request_id"), ("fresh_unnamed_nonce", "zq")]
)
def test_a_nonce_is_new_for_every_call(change: str, name: str, perturb: Any, one: Trace) -> None:
    changed = getattr(perturb, change)(one)

    nonces = [step.args.get(name) for step in changed.steps]
    assert nonces[-1] is None
    assert len(set(nonces)) == len(nonces) == 6
    assert {**changed.steps[0].args, name: None} == {**one.steps[0].args, name: None}


def test_a_result_with_fields_gets_an_id_of_its_own(perturb: Any, one: Trace) -> None:
    first, second, failed, *_ = steps(perturb.fresh_result_ids(one), "outcome")

    assert first.result != second.result
    assert {**first.result, "zq_trace": ""} == {"state": "open", "zq_trace": ""}
    assert failed.result is None


def test_errors_keep_which_are_alike_and_what_is_declared(perturb: Any, one: Trace) -> None:
    errors = [each.error for each in steps(perturb.neutral_errors(one), "outcome")]

    assert errors[1] == errors[2] != errors[3]
    assert "CardDeclined" in errors[1]
    assert "down" not in errors[3]


def test_agents_lose_their_names(perturb: Any, one: Trace) -> None:
    assert steps(perturb.nameless_agents(one), "agent") == [None] * 5


def test_keys_are_shuffled_and_nothing_else(perturb: Any, one: Trace) -> None:
    assert perturb.shuffled_keys(one) == one
