"""What two proposals have in common, and what keeps them apart."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.breaker.fingerprint import Intent, intent_of
from pytest_tripwire.timeline import DEFAULT_VOLATILE, Effect, ToolCall, ToolSpec

REFUND = ToolSpec(
    name="issue_refund",
    effect=Effect.WRITE,
    operation="refund",
    identity=("order_id",),
    wording=("reason",),
    volatile=("attempt",),
)
PAY_BACK = ToolSpec(name="pay_back", effect=Effect.WRITE, operation="refund", identity=("order",))
CANCEL = ToolSpec(name="cancel", effect=Effect.WRITE)


def intent(spec: ToolSpec, tenant: str = "acme", **arguments: Any) -> Intent:
    return intent_of(ToolCall(call_id="1", tool=spec.name, arguments=arguments), spec, tenant)


BASE = {"order_id": "A-1", "amount": 10, "reason": "broken", "attempt": 1}


@pytest.mark.parametrize("name", sorted(DEFAULT_VOLATILE))
def test_a_nonce_does_not_matter(name: str) -> None:
    assert intent(REFUND, **BASE, **{name: "x"}) == intent(REFUND, **BASE, **{name: "y"})
    assert intent(REFUND, **BASE, **{name: "x"}) == intent(REFUND, **BASE)


def test_declared_nonces_and_wording_do_not_matter() -> None:
    other = {**BASE, "attempt": 2, "reason": "It arrived BROKEN, please."}

    one, same = intent(REFUND, **BASE), intent(REFUND, **other)

    assert (same.resource, same.digest) == (one.resource, one.digest)
    assert same.exact != one.exact


def test_what_is_done_matters_but_not_to_what_it_is_done() -> None:
    one, other = intent(REFUND, **BASE), intent(REFUND, **{**BASE, "amount": 11})

    assert one.resource == other.resource
    assert one.digest != other.digest


@pytest.mark.parametrize("amount", [10.0])
def test_a_number_is_one_however_json_writes_it(amount: Any) -> None:
    one, other = intent(REFUND, **BASE), intent(REFUND, **{**BASE, "amount": amount})

    assert other.digest == one.digest


@pytest.mark.parametrize("order", ["A-1 ", " A-1", "A-1\u200b", "\uff21-1"])
def test_what_nobody_sees_makes_no_other_reference(order: str) -> None:
    one, other = intent(REFUND, order_id="A-1"), intent(REFUND, order_id=order)

    assert other.resource == one.resource


@pytest.mark.parametrize("order", ["a-1", "A-10", "A 1"])
def test_what_somebody_sees_does(order: str) -> None:
    assert intent(REFUND, order_id=order).resource != intent(REFUND, order_id="A-1").resource


@pytest.mark.parametrize("amount", [10.5, "10", True, None])
def test_an_amount_of_another_type_is_another_intent(amount: Any) -> None:
    other = intent(REFUND, **{**BASE, "amount": amount})

    assert other.digest != intent(REFUND, **BASE).digest


def test_what_is_acted_on_matters() -> None:
    one, other = intent(REFUND, **BASE), intent(REFUND, **{**BASE, "order_id": "A-2"})

    assert one.resource != other.resource
    assert one.digest != other.digest


def test_the_tenant_matters_and_is_no_argument() -> None:
    ours, theirs = intent(REFUND, **BASE), intent(REFUND, tenant="other", **BASE)

    assert ours.resource != theirs.resource
    assert ours.digest != theirs.digest
    claimed = ToolCall(call_id="1", tool="issue_refund", arguments={**BASE, "tenant": "other"})
    assert intent_of(claimed, REFUND, "acme").resource == ours.resource


def test_tools_of_one_operation_share_resource_and_intent_whatever_they_call_it() -> None:
    one = intent(REFUND, order_id="A-1", amount=10)
    other = intent(PAY_BACK, order="A-1", amount=10)

    assert (one.resource, one.digest) == (other.resource, other.digest)
    assert intent(PAY_BACK, order="A-1", amount=11).digest != one.digest
    assert intent(PAY_BACK, order="A-2", amount=10).resource != one.resource


def test_tools_of_two_operations_share_nothing() -> None:
    one, other = intent(CANCEL, order_id="A-1"), intent(REFUND, order_id="A-1")

    assert one.resource != other.resource
    assert one.digest != other.digest


def test_without_a_declared_identity_every_argument_says_what_is_acted_on() -> None:
    one = intent(CANCEL, order_id="A-1", line=1, request_id="x")

    assert one == intent(CANCEL, line=1, order_id="A-1", request_id="y")
    assert one.resource != intent(CANCEL, order_id="A-1", line=2).resource


def test_a_missing_identity_is_no_crash_and_no_wildcard() -> None:
    assert intent(REFUND, amount=10).resource != intent(REFUND, **BASE).resource
