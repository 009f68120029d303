"""Taking an interrupted run up is a new decision. Nothing is replayed, nothing is forgiven."""

from __future__ import annotations

import itertools
import threading
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    InterruptionRecord,
    Mode,
    Reason,
    ResumeRefusedError,
    RunBudget,
    ToolSpec,
    Usage,
)
from pytest_tripwire.guard import Resume
from pytest_tripwire.timeline import SafeAction, ToolCall, WriteStatus

from ..clock import Clock  # noqa: TID252 - no package to import from

SPECS = {
    "get": ToolSpec(name="get", effect="read", identity=("order",), result_version="version"),
    "look": ToolSpec(name="look", effect="read", identity=("order",)),
    "pay": ToolSpec(
        name="pay", effect="write", identity=("order",), result_id="id", reconcile="look"
    ),
    "hand": ToolSpec(name="hand", effect="handoff", identity=("to",)),
}


class Shop:
    """Orders of one version, a breaker over them, and an operator."""

    def __init__(self, budget: RunBudget | None = None) -> None:
        self.version = 1
        self.paid: list[str] = []
        self.lost = False
        self.shown: str | None = None
        self.clock = Clock()
        numbers = itertools.count(1)
        self.breaker = Breaker(
            budget=budget, specs=SPECS, clock=self.clock, new_id=lambda: f"id-{next(numbers)}"
        )
        self.asked: list[tuple[str, SafeAction]] = []

    def get(self, order: str) -> dict[str, Any]:
        return {"order": order, "version": self.version}

    def look(self, order: str) -> dict[str, Any]:
        return {"order": order, "id": self.shown}

    def pay(self, order: str) -> dict[str, Any]:
        self.paid.append(order)
        if self.lost:
            raise TimeoutError
        return {"id": f"R-{len(self.paid)}"}

    def begun(self) -> BreakerRun:
        return self._armed(self.breaker.run(tenant="acme", workflow="refunds@4"))

    def _armed(self, run: BreakerRun) -> BreakerRun:
        tools = {"get": self.get, "look": self.look, "pay": self.pay, "hand": lambda to: to}
        run.guard(tools, SPECS)
        return run

    def interrupted(self, *, reads: bool = True) -> InterruptionRecord:
        """A run that was interrupted from outside, after it had read an order."""
        run = self.begun()
        if reads:
            run.call("get", {"order": "A"})
        run.interrupt("Wait for the operator.")
        record = run.close()
        assert record is not None
        return record

    def resumed(self, record: InterruptionRecord, **asked: Any) -> BreakerRun:
        """The run taken up again by `ada`, who may do everything."""
        wanted = {"run_id": record.run_id, "token_version": record.token_version}
        run = self.breaker.resume(
            Resume(**{**wanted, "operator": "ada", **asked}),
            authorise=self._authorise,
            reload=lambda _record: str(self.version),
        )
        return self._armed(run)

    def _authorise(self, operator: str, _record: InterruptionRecord, action: SafeAction) -> bool:
        self.asked.append((operator, action))
        return operator == "ada"


@pytest.fixture
def shop() -> Shop:
    return Shop()


def test_resumed_run_goes_on_as_the_same_run(shop: Shop) -> None:
    record = shop.interrupted()

    run = shop.resumed(record)

    assert run.run_id == record.run_id
    assert run.mode is Mode.OPEN
    assert run.call("pay", {"order": "A"}) == {"id": "R-1"}
    assert run.close() is None


def test_nothing_resumes_by_itself(shop: Shop) -> None:
    record = shop.interrupted()

    assert shop.begun().run_id != record.run_id
    assert shop.breaker.store.record_of(record.run_id) == record


# -- who may


def test_operator_has_to_be_authorised(shop: Shop) -> None:
    record = shop.interrupted()

    with pytest.raises(ResumeRefusedError, match="'bob' may not resume runs of tenant 'acme'"):
        shop.resumed(record, operator="bob")
    assert shop.breaker.store.record_of(record.run_id) == record


def test_action_is_part_of_the_question(shop: Shop) -> None:
    record = shop.interrupted()
    shop.resumed(record, read_only=True)

    assert shop.asked == [("ada", SafeAction.RESUME_READ_ONLY)]


def test_run_that_was_never_interrupted(shop: Shop) -> None:
    with pytest.raises(ResumeRefusedError, match="no interrupted run has the id 'id-9'"):
        shop.breaker.resume(
            Resume(run_id="id-9", token_version=1, operator="ada"),
            authorise=lambda *_: True,
            reload=lambda _record: None,
        )


@pytest.mark.parametrize(("asked", "may"), [("refunds@4", True), ("refunds@5", False), ("", True)])
def test_workflow_version_has_to_be_the_same(shop: Shop, asked: str, *, may: bool) -> None:
    record = shop.interrupted()
    if may:
        assert shop.resumed(record, workflow=asked).mode is Mode.OPEN
    else:
        with pytest.raises(ResumeRefusedError, match="was one of refunds@4, and this is refunds@5"):
            shop.resumed(record, workflow=asked)


# -- what may


def lost_write(shop: Shop) -> InterruptionRecord:
    shop.lost = True
    run = shop.begun()
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": "A"})
    record = run.close()
    assert record is not None
    assert record.reason is Reason.UNKNOWN_SIDE_EFFECT
    shop.lost = False
    return record


def test_unsettled_write_forbids_it(shop: Shop) -> None:
    record = lost_write(shop)

    with pytest.raises(ResumeRefusedError, match="the outcome of pay is unknown: reconcile first"):
        shop.resumed(record)
    assert SafeAction.RESUME not in record.safe_actions


def test_unsettled_write_lets_a_run_read(shop: Shop) -> None:
    run = shop.resumed(lost_write(shop), read_only=True)

    assert run.mode is Mode.READ_ONLY
    assert run.call("look", {"order": "A"}) == {"order": "A", "id": None}
    assert run.call("pay", {"order": "B"})["refused"]
    assert shop.paid == ["A"]


def test_read_only_never_writes(shop: Shop) -> None:
    run = shop.resumed(shop.interrupted(), read_only=True)

    assert run.call("pay", {"order": "A"})["refused"]
    assert run.mode is Mode.STOPPED
    assert shop.paid == []


def test_changed_record_is_read_only_and_says_so(shop: Shop) -> None:
    record = shop.interrupted()
    shop.version = 2

    run = shop.resumed(record)

    assert run.last_reason is Reason.STALE_RESUME
    assert run.call("get", {"order": "A"})["version"] == 2
    assert run.call("pay", {"order": "A"})["reason"] == "stale_resume"
    assert shop.paid == []
    told = run.close()
    assert told is not None
    assert "version 1, now 2" in told.message


@pytest.mark.parametrize("tool", [("pay", {"order": "A"}), ("hand", {"to": "billing"})])
def test_stale_run_hands_nothing_on_either(shop: Shop, tool: tuple[str, Any]) -> None:
    record = shop.interrupted()
    shop.version = 2

    run = shop.resumed(record)

    assert run.call(*tool)["reason"] == "stale_resume"
    assert run.mode is Mode.STOPPED


def test_record_that_cannot_be_reloaded_is_stale(shop: Shop) -> None:
    record = shop.interrupted()

    run = shop.breaker.resume(
        Resume(run_id=record.run_id, token_version=record.token_version, operator="ada"),
        authorise=lambda *_: True,
        reload=lambda _record: None,
    )

    assert run.last_reason is Reason.STALE_RESUME


def test_run_that_has_read_nothing_is_not_stale(shop: Shop) -> None:
    record = shop.interrupted(reads=False)
    shop.version = 2

    assert shop.resumed(record).mode is Mode.OPEN


# -- who wins


def test_old_token_is_refused(shop: Shop) -> None:
    record = shop.interrupted()
    shop.resumed(record)

    with pytest.raises(ResumeRefusedError, match="was taken up by somebody else"):
        shop.resumed(record)


def test_who_is_late_is_told_so_and_not_to_settle_what_the_winner_is_writing(shop: Shop) -> None:
    record = shop.interrupted()
    winner = shop.resumed(record)
    on_its_way = ToolCall(call_id="c", tool="pay", arguments={"order": "A"})
    assert winner.decide(on_its_way).allowed

    with pytest.raises(ResumeRefusedError, match="was taken up by somebody else"):
        shop.resumed(record)

    record = msgspec.structs.replace(record, token_version=2)
    with pytest.raises(ResumeRefusedError, match="the outcome of pay is unknown"):
        shop.resumed(record)


def test_of_many_resumers_one_wins(shop: Shop) -> None:
    record = shop.interrupted()
    gate = threading.Barrier(8)
    won: list[BreakerRun] = []
    refused: list[str] = []

    def resumer() -> None:
        gate.wait()
        try:
            won.append(shop.resumed(record))
        except ResumeRefusedError as error:
            refused.append(str(error))

    threads = [threading.Thread(target=resumer) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert (len(won), len(refused)) == (1, 7)


def test_refused_attempt_takes_nothing_from_the_next(shop: Shop) -> None:
    record = shop.interrupted()
    with pytest.raises(ResumeRefusedError):
        shop.resumed(record, operator="bob")

    assert shop.resumed(record).mode is Mode.OPEN


def test_interrupted_again_the_old_token_stays_old(shop: Shop) -> None:
    first = shop.interrupted()
    run = shop.resumed(first)
    run.interrupt("Once more.")
    second = run.close()

    assert second is not None
    assert second.token_version == first.token_version + 1
    with pytest.raises(ResumeRefusedError):
        shop.resumed(first)
    assert shop.resumed(second).mode is Mode.OPEN


# -- what was used stays used


def test_spent_stays_spent() -> None:
    shop = Shop(
        RunBudget(max_side_effects=2, max_tool_calls=9, max_model_cost_usd=Decimal(1), max_turns=5)
    )
    run = shop.begun()
    run.before_model()
    run.after_model(Usage(prompt_tokens=1, completion_tokens=1, cost_usd=Decimal("0.75")))
    run.call("pay", {"order": "A"})
    run.interrupt("Wait.")
    record = run.close()
    assert record is not None

    again = shop.resumed(record)

    left = {each.name: each.remaining for each in again.budgets()}
    assert left == {
        "max_side_effects": 1.0,
        "max_tool_calls": 8.0,
        "max_turns": 4.0,
        "max_model_cost_usd": 0.25,
    }
    assert again.call("pay", {"order": "B"}) == {"id": "R-2"}
    assert again.call("pay", {"order": "C"})["reason"] == "side_effect_budget"


def test_time_that_was_used_stays_used_and_waiting_is_not_charged() -> None:
    shop = Shop(RunBudget(deadline_s=60.0))
    run = shop.begun()
    shop.clock.sleep(40.0)
    run.interrupt("Wait.")
    record = run.close()
    assert record is not None
    shop.clock.sleep(1000.0)

    assert shop.resumed(record).time_left == 20.0


def test_deadline_that_has_passed_stays_passed() -> None:
    shop = Shop(RunBudget(deadline_s=60.0))
    run = shop.begun()
    shop.clock.sleep(61.0)
    run.call("get", {"order": "A"})
    record = run.close()
    assert record is not None
    assert record.reason is Reason.DEADLINE

    again = shop.resumed(record)

    assert again.time_left == 0.0
    assert again.call("pay", {"order": "A"})["reason"] == "deadline"


def test_write_of_the_first_part_is_not_repeated(shop: Shop) -> None:
    run = shop.begun()
    run.call("pay", {"order": "A"})
    run.interrupt("Wait.")
    record = run.close()
    assert record is not None
    assert [each.status for each in record.writes] == [WriteStatus.CONFIRMED]

    assert shop.resumed(record).call("pay", {"order": "A"})["reason"] == "duplicate_write"
    assert shop.paid == ["A"]


# -- what became of it


def test_finished_run_is_marked_as_resumed_and_over(shop: Shop) -> None:
    record = shop.interrupted()
    shop.resumed(record).close()

    kept = shop.breaker.store.record_of(record.run_id)
    assert kept is not None
    assert kept.ended_as == "resumed"
    with pytest.raises(ResumeRefusedError, match="is over: it ended as resumed"):
        shop.resumed(kept)


def test_reconciled_run_is_over(shop: Shop) -> None:
    shop.lost = True
    run = shop.begun()
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": "A"})
    assert run.call("pay", {"order": "A"})["reason"] == "unknown_side_effect"
    shop.shown = "R-1"
    run.call("look", {"order": "A"})

    assert run.mode is Mode.OPEN
    assert run.close() is None
    kept = shop.breaker.store.record_of(run.run_id)
    assert kept is not None
    assert kept.ended_as == "reconciled"


@pytest.mark.parametrize("tampered", [0, 2, 99])
def test_token_that_was_never_given(shop: Shop, tampered: int) -> None:
    record = shop.interrupted()

    with pytest.raises(ResumeRefusedError):
        shop.resumed(record, token_version=tampered)
