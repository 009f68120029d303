"""A lost write is settled by evidence: found means done, absent counts only when it is too late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import Mode, Outcome, Reason, RunBudget, Status, ToolCall
from pytest_tripwire.breaker.reconcile import Reading, interpret, is_empty, stable_id
from pytest_tripwire.timeline import (
    Effect,
    ModeChange,
    Reconciled,
    ToolSpec,
    WriteEntry,
    WriteStatus,
)

Call = Callable[..., Any]
READ = {"reconcile": "get_refund"}
LATE = {**READ, "late_effect_s": 5.0}
DECLARED = {"result_id": "refund_id"}


def reason(result: Any) -> Any:
    return result.get("reason") if isinstance(result, dict) else None


def verdicts(shop: Any) -> list[WriteStatus]:
    return [event.status for event in shop.timeline.of(Reconciled)]


# -- confirmed


@pytest.mark.parametrize("declared", [READ, LATE, {**LATE, **DECLARED}])
def test_a_write_that_is_found_is_not_sent_and_its_answer_is_the_read(
    make_shop: Call, desk: Any, refund: Call, declared: Any
) -> None:
    desk.fates = ["lost"]
    shop = make_shop(refund=declared)
    run = shop.run()
    refund(run)

    again = refund(run, reason="other words", request_id="n-2")

    assert reason(again) == "duplicate_write"
    assert again["result"] == {"order_id": "A-1", "refund_id": "R-1"}
    assert len(desk.sent) == 1
    assert desk.looked == ["A-1"]
    assert run.mode is Mode.OPEN
    assert run.close() is None


def test_it_is_found_once_and_then_known(make_shop: Call, desk: Any, refund: Call) -> None:
    desk.fates = ["lost"]
    run = make_shop(refund=READ).run()
    refund(run)

    results = [refund(run) for _ in range(3)]

    assert [each["result"]["refund_id"] for each in results] == ["R-1"] * 3
    assert len(desk.looked) == 1
    assert len(desk.sent) == 1


@pytest.mark.parametrize("request_id", ["message-1", "message-2"])
def test_a_later_run_that_finds_it_does_not_send_it(
    make_shop: Call, desk: Any, refund: Call, request_id: str
) -> None:
    desk.fates = ["lost"]
    shop = make_shop(refund=READ)
    refund(shop.run(request_id="message-1"))
    later = shop.run(request_id=request_id)

    again = refund(later)

    assert reason(again) == "duplicate_write"
    assert again["result"]["refund_id"] == "R-1"
    assert len(desk.sent) == 1


def test_a_different_amount_is_sent_once_the_lost_one_is_found(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = make_shop(refund=READ).run()
    refund(run, amount=10)

    assert refund(run, amount=5) == {"refund_id": "R-2"}
    assert [sent[2] for sent in desk.sent] == [10, 5]


def test_no_payload_is_kept_in_the_ledger(make_shop: Call, desk: Any, refund: Call) -> None:
    desk.fates = ["lost"]
    shop = make_shop(refund=READ)
    run = shop.run()
    refund(run)
    refund(run)

    (entry,) = shop.breaker.store.of_run(run.run_id)
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, "R-1")


# -- rejected


def test_absence_counts_only_after_the_late_effect_had_its_time(
    make_shop: Call, desk: Any, clock: Any, refund: Call
) -> None:
    desk.fates = ["vanished", "ok"]
    run = make_shop(refund=LATE).run()
    refund(run)
    clock.seconds += 2

    assert refund(run) == {"refund_id": "R-1"}
    assert clock.waits == [3.0]
    assert len(desk.sent) == 2
    assert run.mode is Mode.OPEN


def test_no_wait_when_the_time_has_passed_already(
    make_shop: Call, desk: Any, clock: Any, refund: Call
) -> None:
    desk.fates = ["vanished"]
    run = make_shop(refund=LATE).run()
    refund(run)
    clock.seconds += 60

    assert refund(run) == {"refund_id": "R-1"}
    assert clock.waits == [0.0]


@pytest.mark.parametrize("began", [0.1, 0.7, 1e6 + 0.1, 1e9 + 0.3])
def test_a_wait_that_ends_a_hair_early_counts(
    make_shop: Call, desk: Any, clock: Any, refund: Call, began: float
) -> None:
    clock.seconds = began
    desk.fates = ["vanished"]
    run = make_shop(refund={**READ, "late_effect_s": 0.3}).run()
    refund(run)
    clock.seconds += 0.1

    assert refund(run) == {"refund_id": "R-1"}


def test_a_late_effect_that_shows_while_waiting_is_found(
    make_shop: Call, desk: Any, clock: Any, refund: Call
) -> None:
    desk.fates = ["vanished"]
    run = make_shop(refund=LATE).run()
    refund(run)
    asleep = clock.sleep

    def lands_meanwhile(seconds: float) -> None:
        asleep(seconds)
        desk.paid.append(desk.sent[0])

    clock.sleep = lands_meanwhile

    assert reason(refund(run)) == "duplicate_write"
    assert len(desk.sent) == 1


def test_one_more_attempt_and_not_two(make_shop: Call, desk: Any, refund: Call) -> None:
    desk.fates = ["vanished", "lost"]
    run = make_shop(refund=LATE).run()
    refund(run)
    refund(run)

    assert reason(refund(run)) == "duplicate_write"
    assert len(desk.sent) == 2


def test_a_rejected_write_gives_its_slot_back(make_shop: Call, desk: Any, refund: Call) -> None:
    desk.fates = ["vanished", "ok"]
    run = make_shop(refund=LATE, budget=RunBudget(max_side_effects=1)).run()
    refund(run)
    assert run.budgets()[0].remaining == 0

    assert refund(run) == {"refund_id": "R-1"}
    assert run.budgets()[0].remaining == 0


def test_another_runs_slot_is_not_given_back_here(make_shop: Call, desk: Any, refund: Call) -> None:
    desk.fates = ["vanished", "rejected"]
    shop = make_shop(refund=LATE, budget=RunBudget(max_side_effects=3))
    refund(shop.run())
    later = shop.run()

    refund(later)

    assert later.budgets()[0].remaining == 3


# -- still unknown


AMBIGUOUS = {
    "absence before an effect is ruled out": (READ, {"order_id": "A-1", "refund_id": None}),
    "the question repeated": (READ, {"id": "A-1", "refunded": False}),
    "the question repeated, id declared": (
        {**READ, "result_id": "id"},
        {"id": "A-1", "refunded": False},
    ),
    "something of no known meaning": (LATE, {"status": "processing"}),
    "text": (LATE, "no refund found"),
    "several candidates": (LATE, [{"refund_id": "R-1"}, {"refund_id": "R-2"}]),
    "several ids": (LATE, {"batch_id": "B-1", "customer_id": "C-1"}),
    "an id beside a plain no": (LATE, {"customer_id": "C-1", "refunded": False}),
    "a yes without an id": (LATE, {"order_id": "A-1", "refunded": True}),
    "a count": (LATE, {"count": 1}),
    "a read that fails": (LATE, ConnectionError("down")),
}


@pytest.mark.parametrize("what", AMBIGUOUS)
def test_anything_else_leaves_it_held(make_shop: Call, desk: Any, refund: Call, what: str) -> None:
    declared, shown = AMBIGUOUS[what]
    desk.fates, desk.shown = ["lost"], [shown]
    shop = make_shop(refund=declared)
    run = shop.run()
    refund(run)

    held = refund(run)

    assert reason(held) == "unknown_side_effect"
    assert verdicts(shop) == [WriteStatus.UNKNOWN]
    assert len(desk.sent) == 1
    assert run.mode is Mode.READ_ONLY


@pytest.mark.parametrize("number", [1, 2])
def test_a_truth_that_equals_the_identity_is_no_repetition(
    make_shop: Call, desk: Any, refund: Call, number: int
) -> None:
    # True == 1 and the count is the order's number: taken for echoes, they would pay twice.
    desk.fates, desk.shown = ["lost"], [{"refunded": True, "refunds": number}]
    run = make_shop(refund=LATE).run()
    refund(run, number)

    assert reason(refund(run, number)) == "unknown_side_effect"
    assert len(desk.sent) == 1


def test_an_argument_that_the_read_does_not_take_is_no_part_of_the_question(
    make_shop: Call, desk: Any
) -> None:
    # Without a declared identity everything is offered to the read; it takes the order alone, so
    # the amount that it shows is news.
    desk.fates, desk.shown = ["lost"], [{"order_id": "A-1", "amount": 10}]
    shop = make_shop()
    undeclared = ToolSpec(name="issue_refund", effect=Effect.WRITE, **LATE)
    shop.specs = {**shop.specs, "issue_refund": undeclared}
    run = shop.run()
    arguments = {"order_id": "A-1", "amount": 10}
    with pytest.raises(TimeoutError):
        run.call("issue_refund", arguments)

    assert reason(run.call("issue_refund", arguments)) == "unknown_side_effect"
    assert len(desk.sent) == 1


def test_what_an_earlier_write_left_behind_is_no_evidence(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    desk.fates = ["ok", "vanished"]
    shop = make_shop(refund=READ)
    run = shop.run()
    refund(run, amount=10)
    refund(run, amount=5)

    held = refund(run, amount=5)

    assert desk.looked == ["A-1"]
    assert reason(held) == "unknown_side_effect"
    assert verdicts(shop) == [WriteStatus.UNKNOWN]


def test_a_read_that_failed_is_made_again_at_the_next_proposal(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    desk.fates, desk.shown = ["lost"], [ConnectionError("down")]
    shop = make_shop(refund=READ)
    refund(shop.run())

    assert reason(refund(shop.run())) == "unknown_side_effect"
    assert reason(refund(shop.run())) == "duplicate_write"
    assert len(desk.looked) == 2
    assert len(desk.sent) == 1


def test_the_breaker_asks_once(make_shop: Call, desk: Any, refund: Call) -> None:
    desk.fates, desk.shown = ["lost"], [{"state": "who knows"}]
    shop = make_shop(refund=READ)
    refund(shop.run())

    assert reason(refund(shop.run())) == "unknown_side_effect"
    assert reason(refund(shop.run())) == "unknown_side_effect"
    assert len(desk.looked) == 1


def test_a_read_that_is_not_guarded_settles_nothing(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = make_shop(refund={"reconcile": "no_such_read"}).run()
    refund(run)

    assert reason(refund(run)) == "unknown_side_effect"


# -- a callable that knows


@pytest.mark.parametrize(
    ("said", "expected", "sent"),
    [
        (WriteStatus.CONFIRMED, "duplicate_write", 1),
        (WriteStatus.REJECTED, None, 2),
        (WriteStatus.UNKNOWN, "unknown_side_effect", 1),
        (WriteStatus.IN_FLIGHT, "unknown_side_effect", 1),
    ],
)
def test_a_callable_may_say_the_status_itself(  # noqa: PLR0917 - fixtures and a table
    make_shop: Call, desk: Any, refund: Call, said: WriteStatus, expected: Any, sent: int
) -> None:
    desk.fates = ["vanished"]
    asked: list[Any] = []

    def status(order_id: str) -> WriteStatus:
        asked.append(order_id)
        return said

    run = make_shop(refund={"reconcile": status, "late_effect_s": 1.0}).run()
    refund(run)

    assert reason(refund(run)) == expected
    assert asked == ["A-1"]
    assert len(desk.sent) == sent


# -- the model's own read


def hold(make_shop: Call, desk: Any, refund: Call, **options: Any) -> tuple[Any, Any]:
    """A run that is read-only because the breaker's own read failed."""
    desk.fates, desk.shown = ["lost"], [ConnectionError("down")]
    shop = make_shop(**{"refund": READ, **options})
    run = shop.run()
    refund(run)
    refund(run)
    assert run.mode is Mode.READ_ONLY
    return shop, run


def test_the_models_own_read_of_it_leads_back_to_open(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    shop, run = hold(make_shop, desk, refund)

    seen = run.call("get_refund", {"order_id": "A-1"})

    assert seen == {"order_id": "A-1", "refund_id": "R-1"}
    assert run.mode is Mode.OPEN
    assert run.last_reason is None
    assert [event.mode for event in shop.timeline.of(ModeChange)] == [Mode.READ_ONLY, Mode.OPEN]
    assert refund(run, "A-2") == {"refund_id": "R-2"}
    assert reason(refund(run, "A-1")) == "duplicate_write"
    assert run.close() is None
    assert shop.breaker.store.record_of(run.run_id).ended_as == "reconciled"


@pytest.mark.parametrize("order_id", ["A-2", "", None, ["A-1"]])
def test_a_read_of_another_order_does_not(
    make_shop: Call, desk: Any, refund: Call, order_id: Any
) -> None:
    _, run = hold(make_shop, desk, refund)

    refused = run.call("get_refund", {"order_id": order_id})

    assert reason(refused) == "unknown_side_effect"
    assert run.mode is Mode.READ_ONLY
    assert desk.looked == ["A-1"]


def test_a_read_that_shows_nothing_does_not(make_shop: Call, desk: Any, refund: Call) -> None:
    _, run = hold(make_shop, desk, refund)
    desk.shown = [{"order_id": "A-1", "refund_id": None}]

    run.call("get_refund", {"order_id": "A-1"})

    assert run.mode is Mode.READ_ONLY


def test_an_absence_counts_by_when_the_read_was_made_not_when_it_came_back(
    make_shop: Call, desk: Any, clock: Any, refund: Call
) -> None:
    desk.fates, desk.shown = ["vanished"], [ConnectionError("down")]
    run = make_shop(refund=LATE).run()
    refund(run)
    clock.sleep = lambda _seconds: None  # the breaker's own read comes too early, and fails
    refund(run)
    clock.seconds = 4.0
    call = ToolCall(call_id="r", tool="get_refund", arguments={"order_id": "A-1"})
    nothing = Outcome(status=Status.OK, result={"order_id": "A-1", "refund_id": None})

    assert run.decide(call).allowed
    clock.seconds = 9.0
    run.settle(call, nothing)
    assert run.mode is Mode.READ_ONLY

    assert run.decide(call).allowed
    run.settle(call, nothing)
    assert run.mode is Mode.OPEN


def test_reads_that_settle_are_free_and_outlive_the_budget(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    _, run = hold(make_shop, desk, refund, budget=RunBudget(max_tool_calls=1))
    assert run.budgets()[0].remaining == 0

    assert run.call("get_refund", {"order_id": "A-1"})["refund_id"] == "R-1"
    assert run.mode is Mode.OPEN
    assert run.budgets()[0].remaining == 0


def test_what_another_run_settled_leads_back_as_well(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    shop, first = hold(make_shop, desk, refund)
    second = shop.run()
    refund(second)
    second.call("get_refund", {"order_id": "A-1"})
    assert second.mode is Mode.OPEN

    first.call("get_refund", {"order_id": "A-1"})

    assert first.mode is Mode.OPEN


def test_with_two_unknown_writes_one_answer_leads_nowhere(
    make_shop: Call, desk: Any, clock: Any
) -> None:
    shop = make_shop(refund=READ)
    run = shop.run()
    calls = [
        ToolCall(call_id=str(n), tool="issue_refund", arguments={"order_id": "A-1", "amount": n})
        for n in (1, 2, 3)
    ]
    assert all(run.decide(call).allowed for call in calls[:2])
    for call in calls[:2]:
        run.settle(call, Outcome(status=Status.UNKNOWN))
    desk.paid = [("refund", "A-1", 1)]

    assert run.decide(calls[2]).reason is Reason.UNKNOWN_SIDE_EFFECT

    run.call("get_refund", {"order_id": "A-1"})
    assert run.mode is Mode.READ_ONLY
    statuses = [entry.status for entry in shop.breaker.store.of_run(run.run_id)]
    assert statuses == [WriteStatus.CONFIRMED, WriteStatus.UNKNOWN]
    assert clock.waits == [0.0]


def test_a_hold_does_not_reopen_a_run_that_is_stopped(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    _, run = hold(make_shop, desk, refund)
    read = ToolCall(call_id="r", tool="get_refund", arguments={"order_id": "A-1"})
    assert run.decide(read).allowed
    refund(run, "A-2")
    assert run.mode is Mode.STOPPED

    run.settle(read, Outcome(status=Status.OK, result={"refund_id": "R-1"}))

    assert run.mode is Mode.STOPPED


def test_of_two_readings_the_first_to_arrive_counts(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    """While one proposal reads, another settles the write: the stale reading changes nothing."""
    desk.fates = ["lost"]
    shop = make_shop(refund=READ)
    refund(shop.run())
    inside: list[Any] = []

    def reads_while_another_run_reads(order_id: str) -> Any:
        if not inside:
            inside.append(None)
            inside[0] = refund(shop.run(request_id="between"))
            return {"order_id": order_id, "refund_id": None}
        return {"order_id": order_id, "refund_id": "R-1"}

    desk.get_refund = reads_while_another_run_reads

    outer = refund(shop.run(request_id="later"))

    assert reason(inside[0]) == "duplicate_write"
    assert reason(outer) == "duplicate_write"
    assert len(desk.sent) == 1


# -- async


@pytest.mark.parametrize("kind", ["async read", "sync read"])
def test_async_code_reconciles_as_well(make_shop: Call, desk: Any, clock: Any, kind: str) -> None:
    async def get_refund(order_id: str) -> Any:
        await asyncio.sleep(0)
        return desk.get_refund(order_id)

    async def issue_refund(order_id: str, amount: int = 10) -> Any:
        await asyncio.sleep(0)
        return desk.issue_refund(order_id, amount)

    over: dict[str, Any] = {"issue_refund": issue_refund}
    if kind == "async read":
        over["get_refund"] = get_refund
    desk.fates = ["lost", "vanished", "ok"]
    run = make_shop(refund=LATE).run(**over)

    async def lose_and_ask(order_id: str) -> Any:
        with pytest.raises(TimeoutError):
            await run.acall("issue_refund", {"order_id": order_id})
        return await run.acall("issue_refund", {"order_id": order_id})

    found = asyncio.run(lose_and_ask("A-1"))
    sent_again = asyncio.run(lose_and_ask("A-2"))

    assert reason(found) == "duplicate_write"
    assert found["result"]["refund_id"] == "R-1"
    assert sent_again == {"refund_id": "R-2"}
    assert clock.waits == [5.0, 5.0]


def test_an_async_read_that_fails_leaves_it_held(make_shop: Call, desk: Any) -> None:
    async def get_refund(order_id: str) -> Any:
        await asyncio.sleep(0)
        raise ConnectionError(order_id)

    desk.fates = ["lost"]
    run = make_shop(refund=LATE).run(get_refund=get_refund)

    async def work() -> Any:
        with pytest.raises(TimeoutError):
            await run.acall("issue_refund", {"order_id": "A-1"})
        return await run.acall("issue_refund", {"order_id": "A-1"})

    assert reason(asyncio.run(work())) == "unknown_side_effect"


def test_sync_code_cannot_await_an_async_read_and_says_nothing_of_it(
    make_shop: Call, desk: Any, refund: Call
) -> None:
    async def get_refund(order_id: str) -> Any:
        return {"refund_id": order_id}

    desk.fates = ["lost"]
    run = make_shop(refund=LATE).run(get_refund=get_refund)
    refund(run)

    assert reason(refund(run)) == "unknown_side_effect"
    assert len(desk.sent) == 1


# -- what an id is, by itself


SPEC = ToolSpec(name="w", effect=Effect.WRITE)
NAMED = ToolSpec(name="w", effect=Effect.WRITE, result_id="ref")


@pytest.mark.parametrize(
    ("result", "spec", "expected"),
    [
        ({"ref": "R-1", "id": "X"}, NAMED, "R-1"),
        ({"id": "X"}, NAMED, None),
        ({"ref": None}, NAMED, None),
        ({"ref": ""}, NAMED, None),
        ({"ref": True}, NAMED, None),
        ({"ref": 7}, NAMED, "7"),
        ({"id": "X", "other_id": "Y"}, SPEC, "X"),
        ({"refund_id": "R-1", "amount": 3}, SPEC, "R-1"),
        ([{"refund_id": "R-1"}], SPEC, "R-1"),
        ([{"refund_id": "R-1"}, {"refund_id": "R-2"}], SPEC, None),
        ({"a_id": "1", "b_id": "2"}, SPEC, None),
        ({"order_id": "A-1"}, SPEC, None),
        ({"id": "A-1"}, SPEC, None),
        ({"parent_id": "A-1", "refund_id": "R-1"}, SPEC, "R-1"),
        ({1: "x", "refund_id": "R-1"}, SPEC, "R-1"),
        ("R-1", SPEC, None),
        (None, SPEC, None),
        (7, SPEC, None),
    ],
)
def test_the_stable_id_of_a_result(result: Any, spec: ToolSpec, expected: str | None) -> None:
    assert stable_id(result, spec, {"order_id": "A-1"}) == expected


def test_an_id_in_another_type_is_still_the_one_asked_about() -> None:
    assert stable_id({"id": "7"}, SPEC, {"order_id": 7}) is None
    assert stable_id({"id": 7}, SPEC, {"order_id": "7"}) is None


class Ambiguous:
    """Compares like an array: elementwise, so that nobody can say whether it is equal."""

    def __eq__(self, other: object) -> Any:
        raise ValueError("the truth value of an array is ambiguous")

    __hash__ = None  # type: ignore[assignment]


def test_a_result_that_cannot_be_compared_settles_like_any_other(make_shop: Call) -> None:
    shop = make_shop()

    def pays(order_id: str) -> dict[str, Any]:
        return {"scores": Ambiguous(), "order": order_id, "refund_id": "R-1"}

    run = shop.run(issue_refund=pays)

    run.call("issue_refund", {"order_id": "A-1"})

    (entry,) = shop.breaker.store.of_run(run.run_id)
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, "R-1")


@pytest.mark.parametrize("value", [None, False, "", "  ", [], {}, set(), {"a": None, "b": []}])
def test_these_say_that_there_is_nothing(value: Any) -> None:
    assert is_empty(value)


@pytest.mark.parametrize("value", [0, True, "none", [None], {"a": 0}, WriteStatus.REJECTED])
def test_these_say_something(value: Any) -> None:
    assert not is_empty(value)


def test_a_failed_read_proves_nothing_whatever_it_carries() -> None:
    outcome = Outcome(status=Status.TRANSIENT, result={"refund_id": "R-1"})

    assert interpret(outcome, SPEC, {}, age_s=100) == Reading(status=WriteStatus.UNKNOWN)


def test_entries_are_plain_data() -> None:
    fields = {field.name for field in msgspec.structs.fields(WriteEntry)}

    assert fields.isdisjoint({"arguments", "result", "error"})
