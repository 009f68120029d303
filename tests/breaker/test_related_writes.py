"""How writes bear on one another: lost ones hold what may be the same, confirmed ones are not sent
twice, and putting a thing back is good work.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Breaker, Outcome, ToolCall

from .driver import (
    Decision,
    Driver,
    Mode,
    Reason,
    Status,
    ToolSpec,
    Witness,
    bare,
    read,
    stepped,
    write,
)

MAIL = write("send", identity=("to",), wording=("text",))
PAY = write("pay", identity=("order",), wording=("reason",))
SET = write("set", identity=("name",))


def either(spec: ToolSpec) -> pytest.MarkDecorator:
    """With its declarations, and with nothing declared but the effect."""
    return pytest.mark.parametrize("spec", [spec, bare(spec)], ids=["declared", "undeclared"])


def lost(driver: Driver, tool: str, **arguments: Any) -> None:
    """A write whose answer is lost."""
    assert driver.fails(Status.UNKNOWN, "Timeout", tool, **arguments)
    assert driver.run.mode is Mode.OPEN


def is_held(driver: Driver, tool: str, **arguments: Any) -> bool:
    """Whether a write is held over an unknown one; fails if it is refused for anything else."""
    allowed = driver.gives("ok", tool, **arguments)
    if not allowed:
        assert driver.last.reason is Reason.UNKNOWN_SIDE_EFFECT
        assert driver.last.evidence
    return not allowed


# -- a lost write


@either(MAIL)
@pytest.mark.parametrize(
    "text",
    [
        "Your parcel O-17 has been shipped.",
        "The parcel O-17 was shipped to you",
        "YOUR PARCEL O-17 HAS BEEN SHIPPED!",
        "Dear customer, your parcel is on its way",
        "Shipped",
    ],
)
def test_lost_write_in_other_words_is_held(spec: ToolSpec, text: str) -> None:
    driver = Driver(spec)
    lost(driver, "send", to="anna@a.org", text="Your parcel O-17 has been shipped.", nonce="1")

    assert is_held(driver, "send", to="anna@a.org", text=text, nonce="2")
    assert driver.run.mode is Mode.READ_ONLY
    assert driver.last.decision is Decision.ALLOW_READ_ONLY


@either(PAY)
def test_lost_write_is_held_whatever_lies_between(spec: ToolSpec) -> None:
    driver = Driver(spec, read("look"), SET)
    lost(driver, "pay", order="O-1", amount=3, reason="the lamp came back broken")
    for number in range(20):
        assert driver.gives(number, "look", of=number)
        assert driver.gives("ok", "set", name=f"n{number}", value=1)

    assert is_held(driver, "pay", order="O-1", amount=3, reason="the lamp is broken")


@either(PAY)
def test_user_does_not_lift_the_hold(spec: ToolSpec) -> None:
    driver = Witness(spec)
    lost(driver, "pay", order="O-1", amount=3)
    driver.outside.user_message()

    assert is_held(driver, "pay", order="O-1", amount=3)


def test_only_text_in_other_words_is_held() -> None:
    driver = Driver(write("post"))
    lost(driver, "post", text="All lamps are ten percent off today")

    assert is_held(driver, "post", text="Today all lamps are ten percent off!")


@either(MAIL)
@pytest.mark.parametrize(
    ("to", "text"),
    [("bert@b.org", "Your parcel O-17 has been shipped."), ("bert@b.org", "Invoice attached")],
)
def test_other_addressee_is_another_mail(spec: ToolSpec, to: str, text: str) -> None:
    driver = Driver(spec)
    lost(driver, "send", to="anna@a.org", text="Your parcel O-17 has been shipped.")

    assert not is_held(driver, "send", to=to, text=text)
    assert driver.run.mode is Mode.OPEN


def test_texts_about_different_things_are_not_held_undeclared() -> None:
    driver = Driver(bare(MAIL))
    lost(driver, "send", to="anna@a.org", text="Your parcel has been shipped")

    assert not is_held(driver, "send", to="anna@a.org", text="Invoice attached, please pay soon")


def test_only_text_about_another_thing_is_not_held() -> None:
    driver = Driver(write("post"))
    lost(driver, "post", text="Report about order O-1 is done")

    assert not is_held(driver, "post", text="Report about order O-2 is done")
    assert not is_held(driver, "post", text="Lunch at noon")


@either(PAY)
def test_other_order_is_another_payment(spec: ToolSpec) -> None:
    driver = Driver(spec)
    lost(driver, "pay", order="O-1", amount=3, reason="broken lamp")

    assert all(
        not is_held(driver, "pay", order=f"O-{n}", amount=3, reason="broken lamp")
        for n in range(2, 9)
    )
    assert driver.run.mode is Mode.OPEN


def test_other_tool_with_one_value_in_common_is_not_held() -> None:
    driver = Driver(write("pay"), write("mail"), write("pay_back"))
    lost(driver, "pay", order="O-1", amount=3)

    assert not is_held(driver, "mail", order="O-1", amount=3)
    assert not is_held(driver, "pay_back", order="O-1", amount=3)


def test_other_tool_of_the_operation_is_held() -> None:
    driver = Driver(
        write("pay", operation="money", identity=("order",)),
        write("refund", operation="money", identity=("id",)),
    )
    lost(driver, "pay", order="O-1", amount=3)

    assert is_held(driver, "refund", id="O-1")


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from(["O-1", "O-2"]), st.integers(1, 3)), min_size=1, max_size=12)
)
def test_unknown_write_is_never_sent_twice(orders: list[tuple[str, int]]) -> None:
    for spec in (PAY, bare(PAY)):
        driver = Driver(spec)
        sent: set[Any] = set()
        for number, (order, amount) in enumerate(orders):
            asked = {"order": order, "amount": amount, "request_id": str(number)}
            if driver.fails(Status.UNKNOWN, "Timeout", "pay", **asked):
                key = order if spec is PAY else (order, amount)
                assert key not in sent
                sent.add(key)


# -- a write that was not accepted


@either(PAY)
def test_rate_limited_write_may_be_sent_again(spec: ToolSpec) -> None:
    driver = Driver(spec, pause_s=10)

    for _ in range(2):
        assert driver.fails(Status.DEFINITE, "429 too many requests", "pay", order="O-1", amount=3)
    assert driver.gives({"id": 1}, "pay", order="O-1", amount=3)
    assert driver.is_open


@either(PAY)
def test_write_that_is_never_accepted_is_tried_three_times(spec: ToolSpec) -> None:
    driver = Driver(spec)

    tries = (
        driver.fails(Status.DEFINITE, "Refused", "pay", order="O-1", amount=3) for _ in range(9)
    )
    assert stepped(tries) == 3
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert driver.rests_on == ["pay"] * 3


@either(PAY)
def test_write_mended_after_each_refusal(spec: ToolSpec) -> None:
    driver = Driver(spec)
    errors = ["amount is too high", "currency is missing", "account is closed"]

    for number, error in enumerate(errors):
        assert driver.fails(Status.DEFINITE, error, "pay", order="O-1", amount=9 - number)
    assert driver.gives({"id": 1}, "pay", order="O-1", amount=3, currency="EUR")
    assert driver.is_open


# -- a confirmed write


@either(PAY)
def test_confirmed_write_is_not_sent_again(spec: ToolSpec) -> None:
    driver = Driver(spec)
    assert driver.gives({"id": 1}, "pay", order="O-1", amount=3, request_id="a")

    assert not driver.gives({"id": 2}, "pay", order="O-1", amount=3, request_id="b")
    assert driver.last.decision is Decision.REFUSE
    assert driver.last.reason is Reason.DUPLICATE_WRITE
    assert driver.run.mode is Mode.OPEN, "this call only"


@either(PAY)
def test_fan_out_that_repeats_one_of_its_own(spec: ToolSpec) -> None:
    driver = Driver(spec)
    first = [driver.propose("pay", order=f"O-{n}", amount=3) for n in (1, 2, 3, 2, 1)]

    assert [verdict.allowed for _, verdict in first] == [True, True, True, False, False]
    assert {verdict.reason for _, verdict in first[3:]} == {Reason.DUPLICATE_WRITE}


@either(PAY)
def test_fan_out_over_many_things(spec: ToolSpec) -> None:
    driver = Driver(spec)

    for number in range(60):
        assert driver.gives({"id": number}, "pay", order=f"O-{number}", amount=3)
    assert driver.is_open


@either(PAY)
def test_user_who_asks_again_gets_it_again(spec: ToolSpec) -> None:
    driver = Witness(spec)

    for _ in range(4):
        assert driver.gives({"id": 1}, "pay", order="O-1", amount=3)
        driver.outside.user_message()
    assert driver.is_open


def test_repeatable_write_is_a_new_act_each_time() -> None:
    driver = Driver(write("press", repeatable=True))

    assert all(driver.gives(f"item {number}", "press", key="Down") for number in range(5))
    assert driver.is_open


# -- putting a thing back


@either(SET)
@pytest.mark.parametrize(
    "states",
    [("on", "off"), (True, False), (2, 4), ("draft", "published"), ("low", "middle", "high")],
)
@pytest.mark.parametrize("result", ["ok", {"change_id": "C-1"}], ids=["silent", "with an id"])
def test_thing_put_back_into_the_state_it_was_in(
    spec: ToolSpec, states: tuple[Any, ...], result: Any
) -> None:
    driver = Driver(spec)

    again = all(
        driver.gives(result, "set", name="flag", state=each) for each in (*states, states[0])
    )

    # Where nothing is declared, a number beside a thing that was made may be an amount.
    amounts = spec.identity is None and isinstance(result, dict) and type(states[0]) is int
    assert again is not amounts
    assert driver.run.mode is Mode.OPEN


# What was a way to pay twice, with nothing declared.


@pytest.mark.parametrize(
    ("pay", "other"),
    [
        ({"to": "alice", "amount": 50}, None),
        ({"payment": {"order_id": "o-17", "amount": 5}}, {"payment": {"order_id": "o-18"}}),
        ({"orders": ["o-17"]}, {"orders": ["o-18"]}),
        ({"account": "main", "to": "alice"}, {"account": "main", "to": "bob"}),
    ],
)
def test_look_or_another_payment_between_is_no_excuse(
    pay: dict[str, Any], other: dict[str, Any] | None
) -> None:
    driver = Driver(bare(write("pay")), bare(read("balance")))

    driver.gives({"balance": 100}, "balance", account="main")
    assert driver.gives({"payment_id": "p-1"}, "pay", **pay)
    driver.gives({"balance": 50}, "balance", account="main")
    if other is not None:
        assert driver.gives({"payment_id": "p-2"}, "pay", **other)

    assert not driver.gives({"payment_id": "p-3"}, "pay", **pay)
    assert driver.last.reason is Reason.DUPLICATE_WRITE


def test_id_that_an_envelope_shows_lets_no_lost_write_through() -> None:
    driver = Driver(bare(write("pay")), bare(read("look")))
    driver.gives({"trace_id": "t-9", "state": "open"}, "look", order="o-1")
    driver.fails(Status.UNKNOWN, "lost", "pay", order="o-1", amount=5, request_id="a1")

    assert not driver.gives("ok", "pay", order="o-1", amount=5, request_id="t-9")
    assert driver.last.reason is Reason.UNKNOWN_SIDE_EFFECT


def test_nonce_alone_is_no_other_write() -> None:
    driver = Driver(bare(write("checkout")))
    driver.fails(Status.UNKNOWN, "lost", "checkout", idempotency_key="k1")

    assert not driver.gives("ok", "checkout", idempotency_key="k2")


def test_lost_write_is_not_forgotten_after_many_others() -> None:
    driver = Driver(bare(write("pay")), bare(write("note")))
    driver.fails(Status.UNKNOWN, "lost", "pay", order="o-1", memo="first try of it")
    for number in range(80):
        driver.gives("ok", "note", about=f"n-{number}")

    assert not driver.gives("ok", "pay", order="o-1", memo="second try of it")


@pytest.mark.parametrize(
    "again",
    [
        {"p": {"order": "o-1 "}, "amount": 5},
        {"p": {"order": "o-1"}, "amount": "5.0"},
        {"p": {"order": "o-1"}, "amount": 5, "currency": None},
        {"p": {"order": "o\u20111"}, "amount": 5},
        {"p": {"order": "#O-1"}, "amount": 5},
    ],
)
def test_lost_write_is_held_however_it_is_spelled(again: dict[str, Any]) -> None:
    driver = Driver(bare(write("pay")))
    driver.fails(Status.UNKNOWN, "lost", "pay", p={"order": "o-1"}, amount=5)

    assert not driver.gives("ok", "pay", **again)


def test_message_that_is_delivered_again_repeats_nothing_that_the_user_asked_for_in_it() -> None:
    breaker = Breaker(specs={"pay": PAY})
    for _delivery in range(2):
        with breaker.run(request_id="m-1") as run:
            run.user_message()
            made = ToolCall(call_id="c", tool="pay", arguments={"order": "O-1", "amount": 3})
            verdict = run.decide(made)
            if verdict.allowed:
                run.settle(made, Outcome(status=Status.OK, result={"id": 1}))

    assert verdict.reason is Reason.DUPLICATE_WRITE


@pytest.mark.parametrize(
    "shown", [{"order": "O-1", "amount": 3}, {"order": "O-1", "account_balance": 0}]
)
def test_record_of_what_was_asked_about_is_no_absence(shown: dict[str, Any]) -> None:
    spec = ToolSpec(
        name="pay",
        effect="write",  # type: ignore[arg-type]
        identity=("order", "amount"),
        reconcile=lambda order, amount: shown,
        late_effect_s=0,
    )
    run = Breaker(specs={"pay": spec}).run()
    calls = [
        ToolCall(call_id=f"c{n}", tool="pay", arguments={"order": "O-1", "amount": 3})
        for n in range(2)
    ]
    assert run.decide(calls[0]).allowed
    run.settle(calls[0], Outcome(status=Status.UNKNOWN, error="lost"))

    assert run.decide(calls[1]).reason is Reason.UNKNOWN_SIDE_EFFECT


@either(SET)
def test_same_state_twice_in_a_row_is_a_duplicate(spec: ToolSpec) -> None:
    driver = Driver(spec)
    driver.gives("ok", "set", name="flag", state="on")

    assert not driver.gives("ok", "set", name="flag", state="on")
    assert driver.last.reason is Reason.DUPLICATE_WRITE


@either(SET)
def test_state_of_another_thing_puts_nothing_back(spec: ToolSpec) -> None:
    driver = Driver(spec)
    driver.gives({"id": 1}, "set", name="flag", state="on")
    driver.gives({"id": 2}, "set", name="flags", state="off")

    assert not driver.gives({"id": 3}, "set", name="flag", state="on")
    assert driver.last.reason is Reason.DUPLICATE_WRITE


def test_other_amount_is_no_other_state_of_what_has_a_name_of_its_own() -> None:
    driver = Driver(bare(PAY))
    for number, order in enumerate(("O-1", "O-2", "O-3")):
        driver.gives({"payment_id": number}, "pay", order=order, amount=3)

    assert not driver.gives({"payment_id": 9}, "pay", order="O-1", amount=3)
    assert driver.last.reason is Reason.DUPLICATE_WRITE


def test_more_states_than_a_switch_has_are_things_of_their_own() -> None:
    driver = Driver(bare(SET))
    for number, state in enumerate(("low", "middle", "high", "top")):
        driver.gives({"change_id": number}, "set", name="flag", state=state)

    assert not driver.gives({"change_id": 9}, "set", name="flag", state="low")


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), max_size=20))
def test_each_state_of_a_declared_thing_is_let_through_unless_it_is_in_it(
    states: list[int],
) -> None:
    driver = Driver(SET)
    now = None
    for number, state in enumerate(states):
        allowed = driver.gives("ok", "set", name="flag", state=state)
        if driver.run.mode is not Mode.OPEN:
            assert number >= 6, "a cycle, and no duplicate"
            return
        assert allowed is (state != now)
        now = state
