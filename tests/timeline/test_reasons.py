"""The closed lists, pinned to the strings that stand in every record."""

from __future__ import annotations

import pytest

from pytest_tripwire.timeline import (
    DEFAULT_VOLATILE,
    Decision,
    Effect,
    Family,
    Mode,
    Reason,
    SafeAction,
    Status,
    ToolSpec,
    WriteStatus,
)

FAMILIES = {
    "budget": {
        "turn_budget",
        "deadline",
        "cost_budget",
        "cost_unknown",
        "token_budget",
        "tool_call_budget",
        "side_effect_budget",
        "subagent_budget",
        "same_intent_budget",
        "task_attempts",
        "rate_limit",
    },
    "no_progress": {
        "repeated_intent_same_outcome",
        "empty_results",
        "handoff_without_progress",
        "repeated_denial",
        "stagnant_read",
        "intent_cycle",
        "error_streak",
        "repeated_error",
        "output_repetition",
        "identical_call",
    },
    "safety": {
        "unknown_side_effect",
        "duplicate_write",
        "stale_resume",
        "approval_expired",
        "denied",
        "invalid_arguments",
    },
    "circuit": {"circuit_open"},
    "cancelled": {"cancelled"},
}


def test_every_reason_has_its_family_and_there_is_no_other() -> None:
    told: dict[str, set[str]] = {}
    for reason in Reason:
        told.setdefault(reason.family.value, set()).add(reason.value)

    assert told == FAMILIES
    assert {family.value for family in Family} == set(FAMILIES)


def test_a_reason_is_its_string() -> None:
    assert str(Reason.UNKNOWN_SIDE_EFFECT) == "unknown_side_effect"
    assert Reason("deadline") is Reason.DEADLINE


def test_the_other_closed_lists() -> None:
    assert [each.value for each in Decision] == [
        "ALLOW",
        "ALLOW_READ_ONLY",
        "REQUIRE_APPROVAL",
        "REFUSE",
        "INTERRUPT",
    ]
    assert [each.value for each in Mode] == ["open", "read_only", "stopped"]
    assert [each.value for each in Effect] == ["read", "write", "handoff"]
    assert [each.value for each in Status] == ["ok", "denied", "definite", "transient", "unknown"]
    assert [each.value for each in WriteStatus] == ["in_flight", "unknown", "confirmed", "rejected"]
    assert [each.value for each in SafeAction] == [
        "inspect",
        "reconcile",
        "resume_read_only",
        "resume",
        "close",
    ]


def test_names_that_are_taken_for_nonces() -> None:
    assert {"request_id", "trace_id", "idempotency_key", "nonce", "timestamp"} <= DEFAULT_VOLATILE
    assert {"order_id", "amount", "id", "version"}.isdisjoint(DEFAULT_VOLATILE)


def test_only_name_and_effect_have_to_be_declared() -> None:
    spec = ToolSpec(name="pay", effect=Effect.WRITE)

    assert spec.kind == "pay"
    assert spec.mutates
    assert spec.identity is None
    assert not ToolSpec(name="look", effect=Effect.READ).mutates
    assert not ToolSpec(name="to_billing", effect=Effect.HANDOFF).mutates
    assert ToolSpec(name="pay", effect=Effect.WRITE, operation="payment").kind == "payment"


@pytest.mark.parametrize("effect", list(Effect))
def test_an_effect_by_its_plain_name_is_taken_for_the_value(effect: Effect) -> None:
    spec = ToolSpec(name="pay", effect=effect.value)  # type: ignore[arg-type]

    assert spec.effect is effect
    assert spec == ToolSpec(name="pay", effect=effect)
    assert spec.mutates is (effect is Effect.WRITE)


def test_an_effect_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"effect='wirte': a tool's effect is one of read, write"):
        ToolSpec(name="pay", effect="wirte")  # type: ignore[arg-type]
