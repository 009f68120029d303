"""A person says yes to one call, the user speaks, others change a record, somebody knows better."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    Decision,
    Effect,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
)
from pytest_tripwire.timeline import Reconciled, Timeline, WriteStatus

SPECS = {
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), requires_approval=True),
    "send": ToolSpec(name="send", effect=Effect.WRITE, identity=("order",)),
    "look": ToolSpec(name="look", effect=Effect.READ, result_version="version"),
}


class Clock:
    """Seconds that pass only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds


class Desk:
    """One run, decided call by call."""

    def __init__(self, budget: RunBudget | None = None) -> None:
        self.clock = Clock()
        self.timeline = Timeline(self.clock.now)
        self.breaker = Breaker(specs=SPECS, budget=budget, clock=self.clock)  # type: ignore[arg-type]
        self.run = self.breaker.run(timeline=self.timeline)
        self._numbers = iter(range(1, 1000))

    def call(self, tool: str, **arguments: Any) -> ToolCall:
        return ToolCall(call_id=f"c{next(self._numbers)}", tool=tool, arguments=arguments)

    def ask(self, tool: str, **arguments: Any) -> tuple[str, Verdict]:
        """Propose; returns the id and what was said."""
        call = self.call(tool, **arguments)
        return call.call_id, self.run.decide(call)

    def bring(self, tool: str, status: Status = Status.OK, **arguments: Any) -> str:
        """Propose, and settle if it is let through; returns why not."""
        call = self.call(tool, **arguments)
        verdict = self.run.decide(call)
        if verdict.allowed:
            self.run.settle(call, Outcome(status=status, result=arguments.get("shows")))
        return str(verdict.reason or "")


@pytest.fixture
def desk() -> Desk:
    return Desk()


# -- a yes to one call


def test_a_call_that_needs_a_yes_is_put_up_for_it(desk: Desk) -> None:
    call_id, verdict = desk.ask("pay", order="A")

    assert verdict.decision is Decision.REQUIRE_APPROVAL
    assert desk.run.mode is Mode.OPEN
    desk.run.approve(call_id)
    assert desk.bring("pay", order="A") == ""
    assert desk.run.close() is None


def test_what_waits_for_a_yes_holds_nothing(desk: Desk) -> None:
    desk = Desk(RunBudget(max_side_effects=1, max_tool_calls=5))
    call_id, _ = desk.ask("pay", order="A")

    assert [line.spent for line in desk.run.budgets()] == [0, 0]
    assert desk.run.stats().in_flight == 0
    assert desk.breaker.store.of_run(desk.run.run_id) == ()
    assert desk.bring("send", order="B") == ""
    desk.run.approve(call_id)
    # Decided afresh: the one slot is gone by now.
    assert desk.bring("pay", order="A") == "side_effect_budget"


def test_a_new_nonce_and_a_new_id_ask_no_second_time(desk: Desk) -> None:
    call_id, _ = desk.ask("pay", order="A", request_id="r-1")
    desk.run.approve(call_id)

    assert desk.bring("pay", order="A", request_id="r-2") == ""


def test_other_arguments_ask_again(desk: Desk) -> None:
    call_id, _ = desk.ask("pay", order="A", amount=1)
    desk.run.approve(call_id)

    _, verdict = desk.ask("pay", order="A", amount=100)

    assert (verdict.decision, verdict.reason) == (
        Decision.REQUIRE_APPROVAL,
        Reason.STALE_RESUME,
    )


def test_a_yes_expires(desk: Desk) -> None:
    call_id, _ = desk.ask("pay", order="A")
    desk.run.approve(call_id, expires_s=60)
    desk.clock.seconds = 60

    _, verdict = desk.ask("pay", order="A")

    assert (verdict.decision, verdict.reason) == (
        Decision.REQUIRE_APPROVAL,
        Reason.APPROVAL_EXPIRED,
    )


def test_a_yes_is_for_so_many_attempts(desk: Desk) -> None:
    call_id, _ = desk.ask("pay", order="A")
    desk.run.approve(call_id, attempts=2)

    assert desk.bring("pay", Status.DEFINITE, order="A") == ""
    assert desk.bring("pay", Status.DEFINITE, order="A") == ""
    _, verdict = desk.ask("pay", order="A")
    assert verdict.decision is Decision.REQUIRE_APPROVAL


def test_what_was_approved_and_changed_since_asks_again(desk: Desk) -> None:
    call_id, _ = desk.ask("pay", order="A")
    desk.run.approve(call_id)
    desk.run.changed("A")

    _, verdict = desk.ask("pay", order="A")

    assert (verdict.decision, verdict.reason) == (
        Decision.REQUIRE_APPROVAL,
        Reason.STALE_RESUME,
    )


def test_a_guarded_call_says_that_a_person_has_to_say_yes() -> None:
    paid: list[str] = []
    run = Breaker(specs=SPECS).run()
    tools = run.guard({"pay": lambda order: paid.append(order) or "paid"})

    told = tools["pay"]("A")
    assert "needs a person's approval" in told["message"]
    run.approve(told["call_id"])
    assert tools["pay"]("A") == "paid"
    assert paid == ["A"]


def test_a_guarded_task_says_it_too() -> None:
    async def pay(order: str) -> str:
        return order

    run = Breaker(specs=SPECS).run()
    tools = run.guard({"pay": pay})

    async def work() -> list[Any]:
        first = await tools["pay"]("A")
        run.approve("call-1")
        return [first["refused"], await tools["pay"]("A")]

    assert asyncio.run(work()) == [True, "A"]


@pytest.mark.parametrize(
    ("about", "told"),
    [
        ({"expires_s": 0}, r"expires_s=0\): seconds, more than 0"),
        ({"expires_s": float("nan")}, r"expires_s=nan\)"),
        ({"attempts": 0}, r"attempts=0\): 1 or more"),
    ],
)
def test_a_yes_that_could_never_hold_is_refused(
    desk: Desk, about: Mapping[str, Any], told: str
) -> None:
    call_id, _ = desk.ask("pay", order="A")

    with pytest.raises(ValueError, match=told):
        desk.run.approve(call_id, **about)


def test_a_yes_to_what_nobody_asked_for_is_an_error(desk: Desk) -> None:
    with pytest.raises(LookupError, match=r"approve\('c9'\): no such call of run"):
        desk.run.approve("c9")


def test_a_class_that_wants_a_person_asks_for_every_write() -> None:
    run = Breaker(budget="financial_write", default_effect="write").run()
    tools = run.guard({"pay": lambda order: order, "send": lambda order: order})

    assert tools["pay"]("A")["refused"]
    assert tools["send"]("A")["refused"]
    look = run.guard({"look": lambda order: order}, {"look": SPECS["look"]})["look"]
    assert look("A") == "A"


def test_a_class_that_wants_nobody_asks_nobody() -> None:
    run = Breaker(budget="support", default_effect="write").run()

    assert run.guard({"pay": lambda order: order})["pay"]("A") == "A"


def test_declarations_of_the_breaker_ask_too_where_the_class_wants_it() -> None:
    run = Breaker(budget="financial_write", specs=SPECS).run()
    call = ToolCall(call_id="1", tool="send", arguments={"order": "A"})

    assert run.decide(call).decision is Decision.REQUIRE_APPROVAL


# -- the user speaks, a record changes


def test_after_the_user_has_spoken_the_same_may_be_done_again(desk: Desk) -> None:
    assert desk.bring("send", order="A") == ""
    assert desk.bring("send", order="A") == "duplicate_write"

    desk.run.user_message()

    assert desk.bring("send", order="A") == ""
    assert desk.bring("send", order="A") == "duplicate_write"


def test_what_is_unknown_stays_held_whatever_the_user_says(desk: Desk) -> None:
    desk.bring("send", Status.UNKNOWN, order="A")
    desk.run.user_message()

    assert desk.bring("send", order="A") == "unknown_side_effect"


def test_after_the_user_has_spoken_questions_begin_anew(desk: Desk) -> None:
    for _ in range(2):
        for _ in range(2):
            assert desk.bring("look", order="A") == ""
        desk.run.user_message()

    assert desk.run.mode is Mode.OPEN


def test_a_write_on_what_others_have_changed_is_refused_until_it_is_read(desk: Desk) -> None:
    desk.bring("look", order="A", shows={"version": "3"})
    desk.run.changed("A", was="3")

    assert desk.bring("send", order="A") == "stale_resume"
    desk.bring("look", order="A", shows={"version": "4"})
    assert desk.bring("send", order="A") == ""


def test_a_change_of_nothing_is_an_error(desk: Desk) -> None:
    with pytest.raises(ValueError, match="say which record"):
        desk.run.changed("")


# -- somebody knows what became of it


@pytest.mark.parametrize(
    ("status", "then", "spent"), [("confirmed", "duplicate_write", 1), ("rejected", "", 1)]
)
def test_what_somebody_knows_settles_an_unknown_write(status: str, then: str, spent: int) -> None:
    desk = Desk(RunBudget(max_side_effects=1))
    desk.bring("send", Status.UNKNOWN, order="A")
    assert desk.bring("send", order="A") == "unknown_side_effect"

    assert desk.run.resolve("send", {"order": "A"}, status, "S-1") == 1

    assert desk.run.mode is Mode.OPEN
    assert desk.bring("send", order="A") == then
    assert [line.spent for line in desk.run.budgets()] == [spent]
    (told,) = desk.timeline.of(Reconciled)
    assert told.status is WriteStatus(status)
    entry = desk.breaker.store.of_run(desk.run.run_id)[0]
    assert (entry.status, entry.result_id) == (WriteStatus(status), "S-1")


def test_what_is_certain_is_not_settled_again(desk: Desk) -> None:
    desk.bring("send", order="A")

    assert desk.run.resolve("send", {"order": "A"}, "rejected") == 0
    assert desk.bring("send", order="A") == "duplicate_write"


@pytest.mark.parametrize("status", ["unknown", "in_flight", "perhaps", WriteStatus.UNKNOWN])
def test_what_says_nothing_for_certain_settles_nothing(desk: Desk, status: str) -> None:
    with pytest.raises(ValueError, match="'confirmed' or 'rejected'"):
        desk.run.resolve("send", {"order": "A"}, status)


def test_a_tool_that_is_not_there_settles_nothing(desk: Desk) -> None:
    with pytest.raises(LookupError, match="no such tool in run"):
        desk.run.resolve("other", {}, "confirmed")


# -- in another thread or task, it is the same run


def test_a_yes_may_come_while_calls_are_under_way(desk: Desk, threads_switch_often: None) -> None:
    del threads_switch_often
    call_id, _ = desk.ask("pay", order="A")

    async def approve() -> None:
        await asyncio.to_thread(desk.run.approve, call_id)

    async def both() -> list[str]:
        work = asyncio.to_thread(desk.bring, "look", order="B")
        return (await asyncio.gather(work, approve()))[:1]  # type: ignore[return-value]

    assert asyncio.run(both()) == [""]
    assert desk.bring("pay", order="A") == ""
