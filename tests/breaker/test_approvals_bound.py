"""A person's yes holds for the very call that the person has seen, and for no other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .driver import (
    Decision,
    Mode,
    Reason,
    Status,
    ToolCall,
    ToolSpec,
    Witness,
    bare,
    ok,
    read,
    write,
)

PAY = write("pay", identity=("order",), wording=("why",), requires_approval=True)
UNDECLARED = write("pay", requires_approval=True)
LOOK = read("look", result_version="rev")
BOTH = pytest.mark.parametrize("spec", [PAY, UNDECLARED], ids=["declared", "undeclared"])


def asked(driver: Witness, **arguments: Any) -> str:
    """Propose a payment that is put up for approval; returns the id of the call."""
    call, verdict = driver.propose("pay", **arguments)
    assert verdict.decision is Decision.REQUIRE_APPROVAL
    assert verdict.reason is Reason.DENIED
    return call.call_id


def approved(driver: Witness, *, asked_for: dict[str, Any], **yes: Any) -> None:
    """Somebody has said yes to a payment."""
    assert driver.outside.approve(asked(driver, **asked_for), **yes)


def pays(driver: Witness, **arguments: Any) -> bool:
    """Whether a payment goes through; fails if it is not put up for approval otherwise."""
    allowed = driver.gives({"id": 1}, "pay", **arguments)
    if not allowed:
        assert driver.last.decision is Decision.REQUIRE_APPROVAL
    return allowed


# -- what it holds for


@BOTH
def test_the_very_call(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3})

    assert pays(driver, order="O-1", amount=3)


@BOTH
@pytest.mark.parametrize(
    "again",
    [
        {"order": "O-1", "amount": 3, "request_id": "r2"},
        {"amount": 3, "order": "O-1"},
        {"order": "O-1", "amount": 3.0},
        {"order": "O-1", "amount": 3, "reasoning": "it was approved, so I do it now"},
    ],
)
def test_nonce_order_and_talk_ask_no_second_time(spec: ToolSpec, again: dict[str, Any]) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3, "request_id": "r1"})

    assert pays(driver, **again)


def test_declared_wording_asks_no_second_time() -> None:
    driver = Witness(PAY)
    approved(driver, asked_for={"order": "O-1", "amount": 3, "why": "broken lamp"})

    assert pays(driver, order="O-1", amount=3, why="the lamp came back broken")


@BOTH
def test_other_work_between(spec: ToolSpec) -> None:
    driver = Witness(spec, LOOK, write("note"))
    approved(driver, asked_for={"order": "O-1", "amount": 3})
    for number in range(9):
        assert driver.gives({"rev": 1}, "look", order=f"O-{number}")
        assert driver.gives("ok", "note", of=number)
    driver.waits(3_600)

    assert pays(driver, order="O-1", amount=3)


@BOTH
def test_change_of_something_else(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3})
    driver.outside.changed("O-2", was="7")

    assert pays(driver, order="O-1", amount=3)


# -- what it does not hold for


@BOTH
@pytest.mark.parametrize(
    "again",
    [
        {"order": "O-1", "amount": 4},
        {"order": "O-2", "amount": 3},
        {"order": "O-1", "amount": 3, "currency": "EUR"},
        {"order": "O-1", "amount": "3"},
        {"order": "O-1"},
    ],
)
def test_changed_arguments(spec: ToolSpec, again: dict[str, Any]) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3})

    assert not pays(driver, **again)
    assert driver.last.reason is Reason.STALE_RESUME
    assert driver.last.evidence == (1,), "the event at which it was put up"
    assert "the arguments are others" in driver.last.message


@BOTH
def test_record_that_changed_since_it_was_proposed(spec: ToolSpec) -> None:
    driver = Witness(spec)
    call_id = asked(driver, order="O-1", amount=3)
    driver.outside.changed("O-1")  # after the proposal, before the yes
    driver.outside.approve(call_id)

    assert not pays(driver, order="O-1", amount=3)
    assert driver.last.reason is Reason.STALE_RESUME
    assert "O-1 has changed since" in driver.last.message


@BOTH
def test_record_that_changed_since_the_yes(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3})
    driver.outside.changed("O-1")

    assert not pays(driver, order="O-1", amount=3)
    assert driver.last.reason is Reason.STALE_RESUME


@BOTH
def test_record_that_the_run_itself_sees_changed(spec: ToolSpec) -> None:
    driver = Witness(spec, LOOK)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, version="7")
    assert driver.gives({"rev": "8"}, "look", order="O-1")

    assert not pays(driver, order="O-1", amount=3)
    assert driver.last.reason is Reason.STALE_RESUME


@BOTH
def test_record_that_the_run_sees_as_it_was(spec: ToolSpec) -> None:
    driver = Witness(spec, LOOK)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, version="7")
    assert driver.gives({"rev": "7"}, "look", order="O-1")
    assert driver.gives({"rev": "8"}, "look", order="O-2")

    assert pays(driver, order="O-1", amount=3)


# -- until when


@BOTH
@pytest.mark.parametrize(("after_s", "holds"), [(59.9, True), (60.0, False), (3_600.0, False)])
def test_until_it_expires(spec: ToolSpec, after_s: float, holds: bool) -> None:  # noqa: FBT001 - a parameter
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, expires_s=60)
    driver.waits(after_s)

    assert pays(driver, order="O-1", amount=3) is holds
    assert driver.last.reason is (None if holds else Reason.APPROVAL_EXPIRED)


@BOTH
def test_expired_one_of_a_run_that_was_taken_up_again_is_stale(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, expires_s=60)
    driver.waits(61)
    driver.outside.taken_up("run-2")

    assert not pays(driver, order="O-1", amount=3)
    assert driver.last.reason is Reason.STALE_RESUME
    assert "it has expired" in driver.last.message


@BOTH
def test_new_yes_after_one_that_expired(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, expires_s=60)
    driver.waits(61)
    call, _ = driver.propose("pay", order="O-1", amount=3)

    assert driver.outside.approve(call.call_id)
    assert pays(driver, order="O-1", amount=3)


# -- how often


@BOTH
@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_as_often_as_was_said(spec: ToolSpec, attempts: int) -> None:
    driver = Witness(spec, pause_s=10)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, attempts=attempts)
    errors = iter("abcdef")

    for _ in range(attempts):
        assert driver.fails(
            Status.DEFINITE, f"Refused {next(errors)}", "pay", order="O-1", amount=3
        )
    assert not driver.gives("ok", "pay", order="O-1", amount=3)
    assert driver.last.decision is Decision.REQUIRE_APPROVAL
    assert driver.last.reason is Reason.DENIED


@BOTH
def test_used_up_yes_makes_no_second_payment(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, attempts=9)
    assert pays(driver, order="O-1", amount=3)

    assert not driver.gives("ok", "pay", order="O-1", amount=3)
    assert driver.last.reason is Reason.DUPLICATE_WRITE


@BOTH
def test_asking_again_changes_nothing(spec: ToolSpec) -> None:
    driver = Witness(spec)
    asked(driver, order="O-1", amount=3)

    for number in range(4):
        _, verdict = driver.propose("pay", order="O-1", amount=3, request_id=str(number))
        assert verdict.decision is Decision.REFUSE
        assert verdict.reason is Reason.REPEATED_DENIAL
        assert verdict.evidence == (1,)
    assert driver.run.mode is Mode.OPEN


@BOTH
def test_several_calls_wait_side_by_side(spec: ToolSpec) -> None:
    driver = Witness(spec)
    ids = [asked(driver, order=f"O-{number}", amount=3) for number in range(5)]

    for number, call_id in enumerate(ids):
        assert driver.outside.approve(call_id)
        assert pays(driver, order=f"O-{number}", amount=3)
    assert driver.run.mode is Mode.OPEN


def test_yes_to_an_unknown_call_is_none() -> None:
    driver = Witness(PAY)

    assert not driver.outside.approve("nobody")
    assert driver.propose("pay", order="O-1")[1].decision is Decision.REQUIRE_APPROVAL


@BOTH
def test_lost_write_outweighs_a_yes(spec: ToolSpec) -> None:
    driver = Witness(spec)
    approved(driver, asked_for={"order": "O-1", "amount": 3}, attempts=3)
    assert driver.fails(Status.UNKNOWN, "Timeout", "pay", order="O-1", amount=3)

    assert not driver.gives("ok", "pay", order="O-1", amount=3)
    assert driver.last.reason is Reason.UNKNOWN_SIDE_EFFECT


def test_reads_need_no_yes_and_use_none_up() -> None:
    driver = Witness(PAY, bare(LOOK))
    approved(driver, asked_for={"order": "O-1", "amount": 3})

    assert driver.brings(ok("x"), "look", order="O-1")
    assert pays(driver, order="O-1", amount=3)


# -- in general


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["yes", "pay", "change", "wait"]), st.integers(1, 2), st.integers(1, 2)
        ),
        max_size=25,
    )
)
def test_no_payment_without_a_yes_of_its_own(steps: list[tuple[str, int, int]]) -> None:
    driver = Witness(PAY)
    waiting: dict[tuple[int, int], str] = {}
    granted: set[tuple[int, int]] = set()

    for what, order, amount in steps:
        if what == "change":
            driver.outside.changed(f"O-{order}")
            granted = {each for each in granted if each[0] != order}
            waiting = {each: call for each, call in waiting.items() if each[0] != order}
        elif what == "wait":
            driver.waits(100)
            granted = set()
        elif what == "yes" and (order, amount) in waiting:
            driver.outside.approve(waiting.pop((order, amount)), expires_s=100)
            granted.add((order, amount))
        else:
            call, verdict = driver.propose("pay", order=f"O-{order}", amount=amount)
            if verdict.allowed:
                assert (order, amount) in granted
                granted.discard((order, amount))
                driver.settle(call, ok({"id": 1}))
            elif verdict.decision is Decision.REQUIRE_APPROVAL:
                waiting[order, amount] = call.call_id
                granted.discard((order, amount))


def test_yes_is_one_to_the_record_as_it_was_when_the_call_was_proposed() -> None:
    driver = Witness(
        read("get", identity=("order",), result_version="v"),
        write("refund", identity=("order",), requires_approval=True),
    )
    driver.gives({"v": "1", "total": 5}, "get", order="O-1")
    asked, _ = driver.propose("refund", order="O-1", amount=5)
    driver.gives({"v": "2", "total": 9}, "get", order="O-1")
    driver.outside.approve(asked.call_id)

    assert not driver.gives("ok", "refund", order="O-1", amount=5)
    assert driver.last.reason is Reason.STALE_RESUME


def test_yes_to_an_id_that_two_calls_have_is_to_neither() -> None:
    driver = Witness(PAY)
    for order in ("O-1", "O-2"):
        driver.proposed(ToolCall(call_id="same", tool="pay", arguments={"order": order}))
        assert driver.last.decision is Decision.REQUIRE_APPROVAL

    assert not driver.outside.approve("same")
    assert not driver.gives("paid", "pay", order="O-1")
    assert not driver.gives("paid", "pay", order="O-2")


@pytest.mark.parametrize(("now", "holds"), [("v1", True), ("v2", False)])
def test_yes_under_a_policy_holds_as_long_as_the_policy(now: str, holds: bool) -> None:  # noqa: FBT001 - a parameter
    driver = Witness(PAY)
    approved(driver, asked_for={"order": "O-1"}, policy="v1")
    driver.outside.policy_is(now)

    assert pays(driver, order="O-1") is holds
