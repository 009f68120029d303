"""A run that is taken up again knows what it knew: what the user has said, what others have
changed, what it has spent, and what of that has come to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker import Breaker, BreakerRun, InterruptionRecord, RunBudget, ToolSpec
from pytest_tripwire.guard import Resume
from pytest_tripwire.ledger.lost import adopt
from pytest_tripwire.timeline import ToolCall, WriteStatus

from .durable_desk import Clock, Place

SPECS = {
    "look": ToolSpec(name="look", effect="read", identity=("order",)),
    "pay": ToolSpec(
        name="pay", effect="write", identity=("order",), result_id="id", key_argument="key"
    ),
    "ping": ToolSpec(name="ping", effect="write", identity=("order",), repeatable=True),
}


class Shop:
    """Pays orders, in processes over one store; the next answers can be lost."""

    def __init__(self, place: Place) -> None:
        self.clock, self.place = Clock(), place
        self.paid: list[str] = []
        self.keys: list[str] = []
        self.lose = 0

    def pay(self, order: str, key: str = "") -> dict[str, str]:
        self.paid.append(order)
        self.keys.append(key)
        if self.lose:
            self.lose -= 1
            raise TimeoutError
        return {"id": f"P-{len(self.paid)}"}

    def armed(self, run: BreakerRun) -> BreakerRun:
        tools = {"pay": self.pay, "look": lambda order: order, "ping": lambda order: order}
        run.guard(tools, SPECS)
        return run

    def breaker(self, owner: str = "one", **options: Any) -> Breaker:
        store = self.place.open(owner)
        return Breaker(store=store, specs=SPECS, clock=self.clock, **options)

    def begun(self, **options: Any) -> BreakerRun:
        run = self.breaker(**options).run(tenant="acme", request_id="chat-1", workflow="w@1")
        return self.armed(run)

    def carried(self, state: bytes, **options: Any) -> BreakerRun:
        return self.armed(self.breaker("two", **options).run(tenant="acme", state=state))

    def resumed(self, record: InterruptionRecord, **options: Any) -> BreakerRun:
        wanted = Resume(
            run_id=record.run_id, token_version=record.token_version, operator="ada", workflow="w@1"
        )
        return self.armed(
            self.breaker("two", **options).resume(
                wanted, authorise=lambda *_: True, reload=lambda _: None
            )
        )

    def settle(self, record: InterruptionRecord, status: WriteStatus) -> None:
        """An operator says what became of the writes that are not certain."""
        store = self.place.open("operator")
        for each in record.writes:
            store.resolve_write(each.key, status, operator="ada")


@pytest.fixture(params=["memory", "sqlite"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shop]:
    if request.param == "sqlite":
        pytest.importorskip("sqlalchemy")
    place = Place(request.param, tmp_path)
    yield Shop(place)
    place.close()


def interrupted(run: BreakerRun) -> InterruptionRecord:
    run.interrupt("Wait.")
    record = run.close()
    assert record is not None
    return record


def why(run: BreakerRun, tool: str = "pay", order: str = "A") -> str:
    """Why a call did not run; empty if it did."""
    try:
        answer = run.call(tool, {"order": order})
    except TimeoutError:
        return ""
    return str(answer.get("reason", "")) if isinstance(answer, dict) else ""


def used(run: BreakerRun, name: str = "max_side_effects") -> float:
    return {each.name: each.spent for each in run.budgets()}[name]


# -- what the user has said


@pytest.mark.parametrize("messages", [0, 1, 2])
def test_what_was_done_after_a_message_stays_done(shop: Shop, messages: int) -> None:
    run = shop.begun()
    for _ in range(messages):
        run.user_message()
    assert why(run) == ""

    again = shop.resumed(interrupted(run))

    assert why(again) == "duplicate_write"
    assert shop.paid == ["A"]
    again.user_message()
    assert why(again) == ""


def test_what_an_operator_has_confirmed_is_not_done_again(shop: Shop) -> None:
    shop.lose = 1
    run = shop.begun()
    run.user_message()
    assert why(run) == ""
    record = interrupted(run)
    shop.settle(record, WriteStatus.CONFIRMED)

    assert why(shop.resumed(record)) == "duplicate_write"


def test_next_attempt_at_what_did_not_happen_has_its_key(shop: Shop) -> None:
    shop.lose = 1
    run = shop.begun()
    run.user_message()
    assert why(run) == ""
    record = interrupted(run)
    shop.settle(record, WriteStatus.REJECTED)

    assert why(shop.resumed(record)) == ""
    assert shop.keys[0] == shop.keys[1] != ""


def test_record_of_an_earlier_release_repeats_nothing(shop: Shop) -> None:
    run = shop.begun()
    run.user_message()
    assert why(run) == ""
    record = interrupted(run)
    body = msgspec.to_builtins(record)
    for name in ("messages", "changed", "spent", "doubtful", "executed", "attempts"):
        del body[name]
    old = msgspec.convert(body, InterruptionRecord)
    shop.place.open("old").store_record(old)

    assert (old.messages, old.spent, old.changed) == (0, (), ())
    again = shop.resumed(record)
    assert why(again) == "duplicate_write"
    again.user_message()
    assert why(again) == ""


def test_old_checkpoint_does_not_repeat_what_came_after_a_later_message(shop: Shop) -> None:
    run = shop.begun()
    state = run.snapshot()
    run.user_message()
    assert why(run) == ""

    fork = shop.carried(state)

    assert why(fork) == "duplicate_write"
    assert why(fork, order="B") == ""
    fork.user_message()  # which may be the very one that was said after the checkpoint
    assert why(fork) == "duplicate_write"
    fork.user_message()
    assert why(fork) == ""


# -- what others have changed


def test_what_others_have_changed_is_still_to_be_read_again(shop: Shop) -> None:
    run = shop.begun()
    run.call("look", {"order": "A"})
    run.call("look", {"order": "B"})
    run.changed("A")
    run.changed("B")
    run.call("look", {"order": "B"})

    record = interrupted(run)
    again = shop.resumed(record)

    assert [each.resource for each in record.changed] == ["A"]
    assert why(again) == "stale_resume"
    assert why(again, order="B") == ""
    again = shop.resumed(interrupted(again))
    assert why(again) == "stale_resume"
    again.call("look", {"order": "A"})
    assert why(again) == ""


# -- what was spent, and what of it has come to nothing


@pytest.fixture
def taken(shop: Shop) -> Callable[..., BreakerRun]:
    def taken(run: BreakerRun, how: str, status: WriteStatus | None, **budget: int) -> BreakerRun:
        limit = RunBudget(**budget)
        if how == "state":
            state = run.snapshot()
            store = shop.place.open("operator")
            for each in store.of_run(run.run_id):
                if status is not None and not each.is_certain:
                    store.resolve_write(each.key, status, operator="ada")
            return shop.carried(state, budget=limit)
        record = interrupted(run)
        if status is not None:
            shop.settle(record, status)
        return shop.resumed(record, budget=limit)

    return taken


WAYS = pytest.mark.parametrize("how", ["state", "resume"])


@WAYS
def test_write_that_did_not_happen_gives_its_slot_back_once(
    shop: Shop, taken: Callable[..., BreakerRun], how: str
) -> None:
    shop.lose = 1
    run = shop.begun(budget=RunBudget(max_side_effects=2))
    assert why(run) == ""
    assert why(run, order="B") == ""
    assert used(run) == 2

    again = taken(run, how, WriteStatus.REJECTED, max_side_effects=2)

    assert used(again) == 1
    assert why(again) == ""
    last = taken(again, how, None, max_side_effects=2)
    assert used(last) == 2
    assert why(last, order="C") == "side_effect_budget"


@WAYS
def test_write_that_did_happen_keeps_its_slot(
    shop: Shop, taken: Callable[..., BreakerRun], how: str
) -> None:
    shop.lose = 1
    run = shop.begun(budget=RunBudget(max_side_effects=1))
    assert why(run) == ""

    again = taken(run, how, WriteStatus.CONFIRMED, max_side_effects=1)

    assert used(again) == 1
    assert why(again, order="B") == "side_effect_budget"


def test_child_that_is_resumed_counts_what_its_family_has_spent(shop: Shop) -> None:
    run = shop.begun(budget=RunBudget(max_side_effects=3))
    assert why(run) == ""
    child = shop.armed(run.child("billing"))
    shop.lose = 1
    assert why(child, order="B") == ""
    record = interrupted(child)
    shop.settle(record, WriteStatus.REJECTED)

    budget = RunBudget(max_side_effects=3)
    again = shop.resumed(record, budget=budget)

    assert used(again) == 1
    assert used(shop.resumed(interrupted(again), budget=budget)) == 1


def test_worker_that_died_over_a_write_that_did_not_happen(shop: Shop) -> None:
    run = shop.begun(budget=RunBudget(max_side_effects=2))
    run.user_message()
    assert why(run, order="B") == ""
    assert run.decide(ToolCall(call_id="c", tool="pay", arguments={"order": "A"})).allowed
    shop.clock.seconds += 1000  # nobody answers for it any more
    (record,) = adopt(shop.place.open("operator"), shop.clock.now())
    shop.settle(record, WriteStatus.REJECTED)

    again = shop.resumed(record, budget=RunBudget(max_side_effects=2))

    assert used(again) == 1
    assert why(again, order="B") == "duplicate_write"
    assert why(again) == ""
    assert why(again, order="C") == "side_effect_budget"


def test_dispatches_of_one_intent_are_counted_on(shop: Shop) -> None:
    budget = RunBudget(max_same_intent=2)
    run = shop.begun(budget=budget)
    assert why(run, "ping") == ""

    again = shop.resumed(interrupted(run), budget=budget)

    assert why(again, "ping", order="B") == ""
    assert why(again, "ping") == ""
    last = shop.resumed(interrupted(again), budget=budget)
    assert why(last, "ping") == "same_intent_budget"


@pytest.mark.parametrize("task", ["T", "a task of many words " * 9])
def test_tries_of_a_task_are_counted_on(shop: Shop, task: str) -> None:
    budget = RunBudget(max_attempts_per_task=1)
    run = shop.begun(budget=budget)
    with run.task(task):
        assert why(run) == ""
    record = interrupted(run)
    again = shop.resumed(record, budget=budget)

    with again.task("another"):
        assert why(again, order="B") == ""
    last = shop.resumed(interrupted(again), budget=budget)
    with last.task(task):
        assert why(last, order="C") == "task_attempts"
    assert [each.times for each in record.attempts] == [1]
    assert "many words" not in repr(record)


def test_limit_that_only_the_next_process_names_counts_what_was_done(shop: Shop) -> None:
    run = shop.begun()
    for order in "ABC":
        assert why(run, "ping", order=order) == ""
    run.before_model()

    again = shop.resumed(interrupted(run), budget=RunBudget(max_tool_calls=4, max_turns=9))

    assert (used(again, "max_tool_calls"), used(again, "max_turns")) == (3, 1)
    assert why(again, "ping") == ""
    assert why(again, "ping") == "tool_call_budget"


def test_record_holds_the_numbers_that_are_nearest_to_their_limits(shop: Shop) -> None:
    budget = RunBudget(max_same_intent=3)
    run = shop.begun(budget=budget)
    for _ in range(2):
        assert why(run, "ping", order="often") == ""
    for number in range(400):
        run.call("look", {"order": f"{number}"})
    record = interrupted(run)

    assert [each.times for each in record.executed][:2] == [2, 1]
    assert len(record.executed) == 256


# -- what it was interrupted over


def test_write_that_was_left_unknown_names_its_tool(shop: Shop) -> None:
    breaker = shop.breaker()
    run = shop.armed(breaker.run(tenant="acme", request_id="chat-1", workflow="w@1"))
    shop.lose = 1
    assert why(run) == ""

    record = run.close()

    assert record is not None
    assert (record.last_tool, record.last_intent) == ("pay", record.writes[0].intent)
    assert [(each.tool, each.number) for each in breaker.store.counts()] == [("pay", 1)]
