"""A write is not sent while an earlier one may have happened, and good work is not held up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Mode, Outcome, Reason, RunBudget, Status, ToolCall
from pytest_tripwire.timeline import Decided, Decision, Dispatch, ModeChange

Call = Callable[..., Any]


def reason(result: Any) -> Any:
    return result.get("reason") if isinstance(result, dict) else None


def decisions(shop: Any) -> list[Decision]:
    return [event.decision for event in shop.timeline.of(Decided)]


# -- a lost write


def test_a_lost_write_proposed_again_in_other_words_is_held(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = shop.run()

    refund(run, reason="broken", request_id="n-1")
    again = refund(run, reason="The customer says it is BROKEN!", request_id="n-2")

    assert reason(again) == "unknown_side_effect"
    assert desk.sent == [("refund", "A-1", 10)]
    assert run.mode is Mode.READ_ONLY
    assert run.last_reason is Reason.UNKNOWN_SIDE_EFFECT
    assert decisions(shop)[-1] is Decision.ALLOW_READ_ONLY


def test_it_is_held_whatever_its_amount_is_now(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["lost"]
    run = shop.run()

    refund(run, amount=10)
    again = refund(run, amount=5)

    assert reason(again) == "unknown_side_effect"
    assert len(desk.sent) == 1


def test_another_tool_of_the_operation_is_held_too(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["lost"]
    run = shop.run()

    refund(run)
    again = run.call("pay_back", {"order": "A-1", "comment": "by the other road"})

    assert reason(again) == "unknown_side_effect"
    assert len(desk.sent) == 1


@pytest.mark.parametrize("order_id", ["A-1", "A-2"])
def test_any_further_write_stops_the_run_for_good(
    shop: Any, desk: Any, refund: Call, order_id: str
) -> None:
    desk.fates = ["lost"]
    run = shop.run()
    refund(run)
    refund(run)

    stopped = refund(run, order_id)

    assert reason(stopped) == "unknown_side_effect"
    assert decisions(shop)[-1] is Decision.INTERRUPT
    assert run.mode is Mode.STOPPED
    for _ in range(3):
        assert refund(run, "A-3")["refused"]
        assert run.call("get_refund", {"order_id": "A-1"})["refused"]
        assert run.call("get_customer", {"name": "Ada"})["refused"]
    assert len(desk.sent) == 1
    assert desk.looked == []
    assert [event.mode for event in shop.timeline.of(ModeChange)] == [
        Mode.READ_ONLY,
        Mode.STOPPED,
    ]


def test_in_stopped_even_an_unheard_of_tool_is_told_of_the_stop(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = shop.run()
    for _ in range(3):
        refund(run)

    told = run.call("no_such_tool", {})

    assert reason(told) == "unknown_side_effect"
    assert decisions(shop)[-1] is Decision.INTERRUPT
    assert run.before_model().decision is Decision.INTERRUPT


def test_an_ordinary_read_is_refused_while_a_write_is_held(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = shop.run()
    refund(run)
    refund(run)

    assert reason(run.call("get_customer", {"name": "Ada"})) == "unknown_side_effect"
    assert run.mode is Mode.READ_ONLY
    assert desk.looked == []


def test_an_unknown_write_is_held_under_another_request_id_and_in_another_run(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    first = shop.run(request_id="message-1")
    refund(first)
    second = shop.run(request_id="message-2")

    assert reason(refund(second)) == "unknown_side_effect"
    assert second.mode is Mode.READ_ONLY
    assert first.mode is Mode.OPEN
    assert len(desk.sent) == 1


def test_an_unknown_write_of_another_tenant_holds_nothing(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    refund(shop.run(tenant="acme"))

    refund(shop.run(tenant="globex"))

    assert len(desk.sent) == 2


def test_a_spent_budget_does_not_hide_a_lost_write(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = make_shop(budget=RunBudget(max_side_effects=1, max_tool_calls=1)).run()
    refund(run)

    assert reason(refund(run)) == "unknown_side_effect"


# -- a confirmed write


def test_a_confirmed_write_repeated_is_refused_and_the_run_stays_open(
    shop: Any, desk: Any, refund: Call
) -> None:
    run = shop.run()
    refund(run, reason="broken", request_id="n-1")

    again = refund(run, reason="in other words", request_id="n-2")

    assert reason(again) == "duplicate_write"
    assert decisions(shop)[-1] is Decision.REFUSE
    assert "R-1" in again["message"]
    assert run.mode is Mode.OPEN
    assert len(desk.sent) == 1
    assert run.call("get_customer", {"name": "Ada"}) == {"name": "Ada"}


def test_it_is_refused_through_another_tool_of_the_operation(
    shop: Any, desk: Any, refund: Call
) -> None:
    run = shop.run()
    refund(run, amount=10)

    again = run.call("pay_back", {"order": "A-1", "amount": 10})

    assert reason(again) == "duplicate_write"
    assert len(desk.sent) == 1


def test_a_message_delivered_again_repeats_no_write(shop: Any, desk: Any, refund: Call) -> None:
    refund(shop.run(request_id="message-1"))

    assert reason(refund(shop.run(request_id="message-1"))) == "duplicate_write"
    assert len(desk.sent) == 1


def test_a_message_delivered_again_late_repeats_no_write(
    shop: Any, desk: Any, refund: Call
) -> None:
    refund(shop.run(request_id="message-1"))
    refund(shop.run(request_id="message-2"))

    assert reason(refund(shop.run(request_id="message-1"))) == "duplicate_write"
    assert len(desk.sent) == 2


# -- look-alikes that are good work


def test_a_definite_failure_may_be_tried_again(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["rejected", "ok"]
    run = shop.run()

    assert refund(run) == "RejectedError"
    assert refund(run) == {"refund_id": "R-1"}
    assert run.mode is Mode.OPEN


def test_another_order_is_not_held_up(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["lost", "ok"]
    run = shop.run()
    refund(run, "A-1")

    assert refund(run, "A-2") == {"refund_id": "R-2"}
    assert run.mode is Mode.OPEN


def test_another_amount_after_a_confirmed_one_is_sent(shop: Any, refund: Call) -> None:
    run = shop.run()
    refund(run, amount=10)

    assert refund(run, amount=5) == {"refund_id": "R-2"}


def test_a_value_may_be_put_back(shop: Any, desk: Any, refund: Call) -> None:
    run = shop.run()

    for amount in (10, 5, 10):
        refund(run, amount=amount)

    assert [sent[2] for sent in desk.sent] == [10, 5, 10]
    assert reason(refund(run, amount=10)) == "duplicate_write"


def test_the_same_write_under_another_request_id_is_sent(
    shop: Any, desk: Any, refund: Call
) -> None:
    refund(shop.run(request_id="message-1"))
    refund(shop.run(request_id="message-2"))

    assert len(desk.sent) == 2


def test_runs_without_a_request_id_are_pieces_of_work_of_their_own(
    shop: Any, desk: Any, refund: Call
) -> None:
    refund(shop.run())
    refund(shop.run())

    assert len(desk.sent) == 2


# -- at the same time


def test_of_parallel_identical_writes_one_runs(shop: Any, desk: Any) -> None:
    inside, leave = threading.Event(), threading.Event()

    def slow(order_id: str, amount: int = 10) -> dict[str, Any]:
        desk.sent.append(("refund", order_id, amount))
        inside.set()
        assert leave.wait(20)
        return {"refund_id": "R-1"}

    run = shop.run(issue_refund=slow)
    results: list[Any] = []
    first = threading.Thread(
        target=lambda: results.append(run.call("issue_refund", {"order_id": "A-1"}))
    )
    first.start()
    assert inside.wait(20)

    beside = run.call("issue_refund", {"order_id": "A-1"})
    leave.set()
    first.join(20)

    assert reason(beside) == "duplicate_write"
    assert "under way" in beside["message"]
    assert results == [{"refund_id": "R-1"}]
    assert len(desk.sent) == 1
    assert run.mode is Mode.OPEN


@pytest.mark.usefixtures("threads_switch_often")
def test_of_many_threads_with_one_write_one_gets_through(shop: Any, desk: Any) -> None:
    run = shop.run()
    gate = threading.Barrier(16)
    results: list[Any] = []

    def work(number: int) -> None:
        gate.wait(20)
        results.append(run.call("issue_refund", {"order_id": "A-1", "request_id": str(number)}))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert len(desk.sent) == 1
    assert sorted(map(str, map(reason, results))) == ["None"] + ["duplicate_write"] * 15


def test_one_id_for_two_calls_settles_each_as_its_own(shop: Any) -> None:
    run = shop.run()
    first = ToolCall(call_id="0", tool="issue_refund", arguments={"order_id": "A-1"})
    second = ToolCall(call_id="0", tool="issue_refund", arguments={"order_id": "A-2"})
    read = ToolCall(call_id="0", tool="get_refund", arguments={"order_id": "A-1"})
    assert all(run.decide(call).allowed for call in (first, second, read))

    run.settle(first, Outcome(status=Status.UNKNOWN))
    # The same call, made anew from what a framework kept of it.
    rebuilt = ToolCall(call_id="0", tool="issue_refund", arguments={"order_id": "A-2"})
    run.settle(rebuilt, Outcome(status=Status.OK, result={"refund_id": "R-2"}))
    run.settle(read, Outcome(status=Status.OK, result={}))

    again = ToolCall(call_id="1", tool="issue_refund", arguments={"order_id": "A-2"})
    assert run.decide(again).reason is Reason.DUPLICATE_WRITE
    lost = ToolCall(call_id="2", tool="issue_refund", arguments={"order_id": "A-1"})
    assert run.decide(lost).reason is Reason.UNKNOWN_SIDE_EFFECT


def test_a_call_is_settled_once_and_only_if_it_was_allowed(shop: Any) -> None:
    run = shop.run()
    call = ToolCall(call_id="1", tool="issue_refund", arguments={"order_id": "A-1"})

    with pytest.raises(KeyError, match="settle each allowed call once"):
        run.settle(call, Outcome(status=Status.OK))
    assert run.decide(call).allowed
    run.settle(call, Outcome(status=Status.OK))
    with pytest.raises(KeyError, match="issue_refund, 1"):
        run.settle(call, Outcome(status=Status.OK))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (Status.OK, Reason.DUPLICATE_WRITE),
        (Status.DENIED, Reason.REPEATED_DENIAL),
        (Status.DEFINITE, None),
        (Status.TRANSIENT, Reason.UNKNOWN_SIDE_EFFECT),
        (Status.UNKNOWN, Reason.UNKNOWN_SIDE_EFFECT),
    ],
)
def test_what_an_outcome_means_for_the_next_proposal(
    shop: Any, status: Status, expected: Reason | None
) -> None:
    run = shop.run()
    first, second = (
        ToolCall(call_id=number, tool="issue_refund", arguments={"order_id": "A-1"})
        for number in "12"
    )
    run.decide(first)
    run.settle(first, Outcome(status=status))

    assert run.decide(second).reason is expected


def test_a_verdict_names_the_events_it_rests_on(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["lost"]
    run = shop.run()
    refund(run)
    call = ToolCall(call_id="x", tool="issue_refund", arguments={"order_id": "A-1"})

    verdict = run.decide(call)

    kinds = [type(shop.timeline.events()[seq - 1]).__name__ for seq in verdict.evidence]
    assert kinds == ["Decided", "Settled"]
    assert shop.timeline.of(Dispatch) == ()
