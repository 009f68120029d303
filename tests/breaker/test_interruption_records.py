"""What an interruption leaves behind: enough to go on from, and nothing that could leak."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import Mode, Reason, RunBudget
from pytest_tripwire.guard import Interrupted
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    BudgetLine,
    InterruptionRecord,
    ModeChange,
    SafeAction,
    WriteStatus,
    to_json,
)

Call = Callable[..., Any]
UNSURE = (
    SafeAction.INSPECT,
    SafeAction.RECONCILE,
    SafeAction.RESUME_READ_ONLY,
    SafeAction.CLOSE,
)
SURE = (SafeAction.INSPECT, SafeAction.RESUME, SafeAction.CLOSE)


def test_a_stop_on_a_lost_write_says_all_that_a_person_needs(
    make_shop: Call, desk: Any, clock: Any, refund: Call
) -> None:
    desk.fates = ["ok", "lost"]
    shop = make_shop(budget=RunBudget(max_side_effects=5, max_turns=9))
    run = shop.breaker.run(tenant="acme", workflow="refunds@4", timeline=shop.timeline)
    run.guard({name: getattr(desk, name) for name in shop.specs}, shop.specs)
    run.before_model()
    clock.seconds = 3.0
    for order in ("A-1", "A-2", "A-2", "A-3"):
        refund(run, order)

    record = shop.breaker.store.record_of(run.run_id)

    assert (record.run_id, record.tenant, record.workflow) == (run.run_id, "acme", "refunds@4")
    assert (record.mode, record.reason) == (Mode.STOPPED, Reason.UNKNOWN_SIDE_EFFECT)
    assert record.budgets == (
        BudgetLine(name="max_turns", limit=9, spent=1, remaining=8),
        BudgetLine(name="max_side_effects", limit=5, spent=2, remaining=3),
    )
    assert [
        (each.tool, each.status, each.result_id, each.dispatched_at) for each in record.writes
    ] == [
        ("issue_refund", WriteStatus.CONFIRMED, "R-1", 3.0),
        ("issue_refund", WriteStatus.UNKNOWN, None, 3.0),
    ]
    assert record.safe_actions == UNSURE
    assert (record.token_version, record.ended_as) == (1, None)
    assert record.last_intent not in {each.intent for each in record.writes}
    assert "issue_refund" in record.message
    assert [type(shop.timeline.events()[seq - 1]).__name__ for seq in record.evidence] == [
        "Decided",
        "Settled",
    ]


def test_a_spent_budget_leaves_nothing_in_doubt(make_shop: Call, refund: Call) -> None:
    shop = make_shop(budget=RunBudget(max_side_effects=1))
    run = shop.run()
    refund(run, "A-1")
    refund(run, "A-2")

    record = shop.breaker.store.record_of(run.run_id)

    assert record.reason is Reason.SIDE_EFFECT_BUDGET
    assert record.safe_actions == SURE
    assert "max_side_effects" in record.message


def test_a_run_held_by_another_runs_write_may_not_just_go_on(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    refund(shop.run())
    held = shop.run()
    refund(held)

    record = shop.breaker.store.record_of(held.run_id)

    assert record.writes == ()
    assert record.safe_actions == UNSURE


def test_the_record_is_stored_before_the_stop_is_told(make_shop: Call, refund: Call) -> None:
    seen: list[int] = []

    class Watching(MemoryLedger):
        def store_record(self, record: InterruptionRecord) -> None:
            seen.append(len(shop.timeline.of(ModeChange)))
            super().store_record(record)

    shop = make_shop(store=Watching(), budget=RunBudget(max_side_effects=0))
    refund(shop.run())

    assert seen == [0]
    assert len(shop.timeline.of(ModeChange)) == 1


def test_a_write_that_comes_back_after_the_stop_is_in_the_record(
    make_shop: Call, refund: Call
) -> None:
    shop = make_shop(budget=RunBudget(max_side_effects=1))

    def stopped_meanwhile(order_id: str) -> dict[str, Any]:
        assert run.call("pay_back", {"order": "A-9"})["refused"]
        before.append(shop.breaker.store.record_of(run.run_id))
        return {"refund_id": f"R-{order_id}"}

    before: list[InterruptionRecord] = []
    run = shop.run(issue_refund=stopped_meanwhile)
    refund(run)
    after = shop.breaker.store.record_of(run.run_id)

    assert before[0].writes[0].status is WriteStatus.IN_FLIGHT
    assert before[0].safe_actions == UNSURE
    assert after.writes[0].status is WriteStatus.CONFIRMED
    assert after.safe_actions == SURE
    assert run.mode is Mode.STOPPED


def test_a_record_survives_json(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["lost"]
    run = shop.run()
    refund(run)
    refund(run)
    record = run.close()

    encoded = msgspec.json.encode(record)

    assert msgspec.json.decode(encoded, type=InterruptionRecord) == record


def test_a_run_that_ends_with_an_unknown_write_is_interrupted(
    shop: Any, desk: Any, refund: Call
) -> None:
    desk.fates = ["lost"]
    run = shop.run()
    refund(run)

    record = run.close()

    assert (record.reason, record.mode) == (Reason.UNKNOWN_SIDE_EFFECT, Mode.READ_ONLY)
    assert record.safe_actions == UNSURE
    assert record.writes[0].status is WriteStatus.UNKNOWN
    assert len(record.evidence) == 2
    assert run.close() == record


def test_a_run_that_ends_with_a_write_under_way_is_interrupted(make_shop: Call) -> None:
    shop = make_shop()
    records: list[Any] = []

    def ends_meanwhile(order_id: str) -> str:
        records.append(run.close())
        return order_id

    run = shop.run(issue_refund=ends_meanwhile)
    run.call("issue_refund", {"order_id": "A-1"})

    assert records[0].reason is Reason.UNKNOWN_SIDE_EFFECT
    assert records[0].writes[0].status is WriteStatus.UNKNOWN
    (late,) = shop.breaker.store.record_of(run.run_id).writes
    assert late.status is WriteStatus.CONFIRMED


def test_a_run_that_ends_well_leaves_no_record(shop: Any, desk: Any, refund: Call) -> None:
    desk.fates = ["rejected", "ok"]
    with shop.run() as run:
        refund(run)
        refund(run)
        refund(run)

    assert shop.breaker.store.record_of(run.run_id) is None


def test_a_record_that_could_not_be_stored_at_the_stop_is_stored_at_the_end(
    make_shop: Call, refund: Call
) -> None:
    class FailsOnce(MemoryLedger):
        failures = 1

        def store_record(self, record: InterruptionRecord) -> None:
            if self.failures:
                self.failures -= 1
                raise OSError("disk full")
            super().store_record(record)

    shop = make_shop(store=FailsOnce(), budget=RunBudget(max_side_effects=0))
    run = shop.run()
    with pytest.raises(OSError, match="disk full"):
        refund(run)
    assert run.mode is Mode.STOPPED

    record = run.close()

    assert record is not None
    assert record.reason is Reason.SIDE_EFFECT_BUDGET


SECRET = "s3cr3t-0f-4da"


class Leaky:
    """Tools that put a secret into every place where one can stand."""

    def __init__(self) -> None:
        self.run: Any = None
        self.lost = {f"A-2 {SECRET}", f"A-3 {SECRET}"}

    def pays(self, order_id: str, reason: str = "", request_id: str = "") -> Any:
        del reason, request_id
        if order_id in self.lost:
            raise TimeoutError(f"lost {SECRET}")
        return {"refund_id": "R-1", "card": SECRET, "nested": {"token": SECRET}, "iban_id": SECRET}

    def looks(self, order_id: str) -> Any:
        if order_id == f"A-2 {SECRET}":
            return {"refund_id": "R-2", "nested": {"token": SECRET}}
        raise ConnectionError(f"down {SECRET} {order_id}")

    def stops_inside(self, name: str = "") -> Any:
        """The run is stopped while this call is under way, so that it is part of what is known."""
        self.pay(f"A-3 {SECRET}")
        self.pay(f"A-4 {SECRET}")
        return {"name": name, "nested": SECRET}

    def pay(self, order_id: str) -> Any:
        with contextlib.suppress(TimeoutError):
            arguments = {"order_id": order_id, "reason": SECRET, "request_id": SECRET}
            return self.run.call("issue_refund", arguments)


def test_no_payload_and_no_secret_is_kept_anywhere(make_shop: Call) -> None:
    """Planted in arguments, results and error texts; looked for in all that is written."""
    tools = Leaky()
    shop = make_shop(
        refund={"reconcile": "get_refund", "result_id": "refund_id"},
        budget=RunBudget(max_side_effects=9),
    )
    run = tools.run = shop.run(
        issue_refund=tools.pays, get_refund=tools.looks, get_customer=tools.stops_inside
    )
    told = [tools.pay(f"A-1 {SECRET}") for _ in range(2)]
    told += [tools.pay(f"A-2 {SECRET}") for _ in range(2)]
    run.call("issue_refund", {"order_id": "A-1", SECRET: SECRET})
    tools.pay(f"A-3 {SECRET}")
    run.call("get_customer", {"name": SECRET})
    with pytest.raises(Interrupted) as raised, run:
        pass

    record = shop.breaker.store.record_of(run.run_id)
    written = [
        msgspec.json.encode(record),
        msgspec.json.encode(shop.breaker.store.of_run(run.run_id)),
        to_json(shop.timeline.events()),
        str(raised.value).encode(),
        repr(run).encode(),
    ]
    assert SECRET in str(told)
    assert record.mode is Mode.STOPPED
    assert [each.status for each in record.writes] == [
        WriteStatus.CONFIRMED,
        WriteStatus.CONFIRMED,
        WriteStatus.UNKNOWN,
    ]
    assert len(shop.timeline.events()) > 12
    for text in written:
        assert len(text) > 10
        assert SECRET.encode() not in text
        assert b"nested" not in text
