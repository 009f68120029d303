"""Runs for sub-agents: one set of budgets and writes, turns and histories of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    ChildRefusedError,
    CircuitPolicy,
    Effect,
    Interrupted,
    Mode,
    Outcome,
    Reason,
    Resume,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
)
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    BreakerEvent,
    ChildBegun,
    Decided,
    ModeChange,
    Timeline,
    WriteStatus,
)

SPECS = {
    "pay": ToolSpec(
        name="pay",
        effect=Effect.WRITE,
        identity=("order",),
        volatile=("fate",),
        reconcile="status_of",
        late_effect_s=0,
        definite_failures=("NothingHappenedError",),
        denials=("DeniedError",),
    ),
    "put": ToolSpec(name="put", effect=Effect.WRITE, volatile=("fate",)),
    "look": ToolSpec(name="look", effect=Effect.READ),
    "status_of": ToolSpec(name="status_of", effect=Effect.READ),
}


class NothingHappenedError(Exception):
    """Comes before any effect."""


class DeniedError(Exception):
    """The desk says no."""


class Till:
    """A tool that does as it is told, and counts what it did."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.looked: list[str] = []
        self.asked: list[str] = []
        self.shows: Any = TimeoutError()

    def pay(self, order: str, amount: int = 1, fate: str = "ok") -> dict[str, str]:
        """Pay an order."""
        if fate == "definite":
            raise NothingHappenedError
        if fate == "denied":
            raise DeniedError
        if fate != "vanished":
            self.paid.append(order)
        if fate != "ok":
            raise TimeoutError
        return {"payment_id": f"P-{len(self.paid)}"}

    def put(self, **what: Any) -> str:
        """Put something into a state."""
        self.paid.append(str(what))
        if what.get("fate") == "lost":
            raise TimeoutError
        return "done"

    def look(self, order: str) -> dict[str, str]:
        """Look at an order."""
        self.looked.append(order)
        return {"order": order}

    def status_of(self, order: str) -> Any:
        """What became of a payment."""
        self.asked.append(order)
        if isinstance(self.shows, Exception):
            raise self.shows
        return self.shows


class Shop:
    """One breaker, one run, one till."""

    def __init__(self, **options: Any) -> None:
        self.till = Till()
        self.timeline = Timeline(lambda: 0.0)
        self.breaker = Breaker(specs=SPECS, new_id=iter_of_ids(), **options)
        self.run = self.begun()

    def begun(self, **about: Any) -> Any:
        return self.tooled(self.breaker.run(timeline=self.timeline, **about))

    def tooled(self, run: Any, *without: str) -> Any:
        tools = {name: getattr(self.till, name) for name in SPECS if name not in without}
        run.guard(tools)
        return run

    def child(self, agent: str = "billing", parent: Any = None) -> Any:
        return self.tooled((parent or self.run).child(agent))


def iter_of_ids() -> Callable[[], str]:
    numbers = iter(range(1, 10_000))
    return lambda: f"id-{next(numbers)}"


def pay(run: Any, order: str, fate: str = "ok", amount: int = 1) -> str:
    """Pay; returns why not, or what was raised."""
    try:
        told = run.call("pay", {"order": order, "amount": amount, "fate": fate})
    except (TimeoutError, NothingHappenedError, DeniedError) as error:
        return type(error).__name__
    return str(told.get("reason", "paid"))


@pytest.fixture
def shop() -> Shop:
    return Shop()


# -- slots


def test_a_child_takes_a_slot_and_without_one_there_is_no_child() -> None:
    shop = Shop(budget=RunBudget(max_subagents=2))

    with shop.child(), shop.child():
        pass
    with pytest.raises(ChildRefusedError, match="subagent_budget") as told:
        shop.child()

    assert told.value.reason is Reason.SUBAGENT_BUDGET
    assert told.value.verdict.as_result()["refused"] is True
    assert [line.remaining for line in shop.run.budgets()] == [0]
    assert pay(shop.run, "A") == "paid"
    assert shop.run.close() is None


def test_a_class_without_sub_agents_begins_none() -> None:
    run = Breaker(budget="simple_lookup").run()

    with pytest.raises(ChildRefusedError):
        run.child()
    assert run.mode is Mode.OPEN


def test_a_run_that_is_stopped_or_over_begins_no_child(shop: Shop) -> None:
    stopped = shop.begun()
    stopped.interrupt("enough")
    shop.run.finish()

    with pytest.raises(ChildRefusedError, match="stopped") as told:
        stopped.child()
    with pytest.raises(ChildRefusedError, match="come to its end"):
        shop.run.child()

    assert told.value.reason is Reason.CANCELLED


def test_the_refusal_stands_in_the_timeline_and_in_the_numbers() -> None:
    shop = Shop(budget=RunBudget(max_subagents=0))

    with pytest.raises(ChildRefusedError):
        shop.run.child("billing")

    (told,) = shop.timeline.of(Decided)
    assert (told.tool, told.reason) == ("billing", Reason.SUBAGENT_BUDGET)
    assert shop.run.stats().reasons == {Reason.SUBAGENT_BUDGET: 1}


def test_grandchildren_take_slots_of_the_same_budget() -> None:
    shop = Shop(budget=RunBudget(max_subagents=2))
    grandchild = shop.child("two", parent=shop.child("one"))

    with pytest.raises(ChildRefusedError):
        grandchild.child("three")
    assert grandchild.run_id == f"{shop.run.run_id}/1/2"


# -- one set of budgets


def test_budgets_are_those_of_the_whole_family() -> None:
    shop = Shop(budget=RunBudget(max_side_effects=2, max_tool_calls=5))
    child = shop.child()

    assert [pay(child, "A"), pay(shop.run, "B"), pay(child, "C")] == [
        "paid",
        "paid",
        "side_effect_budget",
    ]
    assert child.budgets() == shop.run.budgets()
    assert child.mode is Mode.STOPPED
    assert pay(shop.run, "D") == "side_effect_budget"


def test_turns_are_told_apart_and_paid_from_one_budget() -> None:
    shop = Shop(budget=RunBudget(max_turns=3))
    child = shop.child()

    assert [each.before_model().allowed for each in (shop.run, child, child, shop.run)] == [
        True,
        True,
        True,
        False,
    ]
    assert (shop.run.stats().turns, child.stats().turns) == (1, 2)


def test_dispatches_of_one_intent_are_counted_in_both() -> None:
    shop = Shop(budget=RunBudget(max_same_intent=2))
    child = shop.child()

    for run in (shop.run, child):
        run.call("look", {"order": "A"})

    assert shop.run.call("look", {"order": "A"})["reason"] == "same_intent_budget"


def test_calls_within_a_minute_are_counted_in_both() -> None:
    shop = Shop(budget=RunBudget(max_calls_per_minute=2))
    child = shop.child()
    for run, order in ((shop.run, "A"), (child, "B")):
        run.call("look", {"order": order})

    assert shop.run.call("look", {"order": "C"})["reason"] == "rate_limit"
    assert child.call("look", {"order": "C"})["reason"] == "rate_limit"


def test_tries_of_a_task_are_counted_in_both() -> None:
    shop = Shop(budget=RunBudget(max_attempts_per_task=1))
    with shop.run.task("book"):
        child = shop.child()
        assert child.call("look", {"order": "A"}) == {"order": "A"}

    with child.task("book"):
        assert child.call("look", {"order": "B"})["reason"] == "task_attempts"
        assert shop.run.call("look", {"order": "B"})["reason"] == "task_attempts"


def test_the_time_of_a_child_is_that_of_its_parent() -> None:
    class Clock:
        seconds = 0.0

        def now(self) -> float:
            return self.seconds

    clock = Clock()
    shop = Shop(budget=RunBudget(deadline_s=10), clock=clock)
    clock.seconds = 4
    child = shop.child()

    assert child.time_left == 6
    clock.seconds = 10
    assert child.call("look", {"order": "A"})["reason"] == "deadline"


# -- one set of writes


def test_what_one_has_written_the_other_does_not_write_again(shop: Shop) -> None:
    child = shop.child()
    assert pay(shop.run, "A") == "paid"
    assert pay(child, "B") == "paid"

    assert pay(child, "A") == "duplicate_write"
    assert pay(shop.run, "B") == "duplicate_write"
    assert pay(shop.child(), "B") == "duplicate_write"
    assert shop.till.paid == ["A", "B"]


def test_what_a_child_has_changed_since_excuses_doing_it_again(shop: Shop) -> None:
    """As it would within one run: on, off, and on again."""
    child = shop.child()

    assert pay(shop.run, "A", amount=1) == "paid"
    assert pay(child, "A", amount=2) == "paid"
    assert pay(shop.run, "A", amount=1) == "paid"


def test_a_child_may_put_back_what_its_parent_has_done(shop: Shop) -> None:
    child = shop.child()

    assert pay(shop.run, "A", amount=1) == "paid"
    assert pay(child, "A", amount=2) == "paid"
    assert pay(child, "A", amount=1) == "paid"
    assert pay(child, "A", amount=1) == "duplicate_write"


def test_a_child_rests_on_what_its_parent_has_read(shop: Shop) -> None:
    child = shop.child()
    shop.run.call("look", {"order": "A"})
    shop.run.changed("A")

    assert pay(child, "A") == "stale_resume"
    child.call("look", {"order": "A"})
    assert pay(shop.run, "A") == "paid"


def test_a_yes_to_a_call_of_a_child_is_given_to_the_family() -> None:
    specs = {"pay": ToolSpec(name="pay", effect=Effect.WRITE, requires_approval=True)}
    run = Breaker(specs=specs).run()
    child = run.child()
    for each in (run, child):
        each.guard({"pay": lambda order: order})
    assert child.call("pay", {"order": "A"})["refused"]
    assert run.call("pay", {"order": "B"})["refused"]

    run.approve("call-1")
    child.approve("call-2")

    assert child.call("pay", {"order": "A"}) == "A"
    assert child.call("pay", {"order": "B"}) == "B"


def test_an_unknown_write_of_a_child_holds_in_the_parent(shop: Shop) -> None:
    child = shop.child()
    pay(child, "A", "vanished")

    assert pay(shop.run, "A") == "unknown_side_effect"
    assert shop.run.mode is Mode.READ_ONLY
    assert shop.till.asked == ["A"]
    assert shop.till.paid == []


def test_an_unknown_write_of_the_parent_holds_in_a_child(shop: Shop) -> None:
    pay(shop.run, "A", "vanished")
    child = shop.child()

    assert pay(child, "A") == "unknown_side_effect"
    assert child.mode is Mode.READ_ONLY


def test_an_unknown_write_on_what_nobody_declared_holds_in_the_parent() -> None:
    shop = Shop()
    child = shop.child()
    with pytest.raises(TimeoutError):
        child.call("put", {"invoice": "INV-2041", "note": "first words of it", "fate": "lost"})

    told = shop.run.call("put", {"invoice": "INV-2041", "note": "quite other words"})

    assert told["reason"] == "unknown_side_effect"


def test_the_parent_settles_what_a_child_has_lost(shop: Shop) -> None:
    child = shop.child()
    pay(child, "A", "lost")
    shop.till.shows = {"payment_id": "P-1"}

    assert pay(shop.run, "A") == "duplicate_write"
    (entry,) = shop.breaker.store.of_run(child.run_id)
    assert (entry.status, entry.result_id) == (WriteStatus.CONFIRMED, "P-1")
    told = child.call("pay", {"order": "A"})
    assert (told["reason"], told["result"]) == ("duplicate_write", {"payment_id": "P-1"})
    assert child.close() is None


def test_a_write_that_did_not_happen_gives_its_slot_back_to_both() -> None:
    shop = Shop(budget=RunBudget(max_side_effects=1))
    child = shop.child()
    pay(child, "A", "vanished")
    shop.till.shows = {}

    assert pay(shop.run, "A") == "paid"
    assert [line.spent for line in shop.run.budgets()] == [1]


def test_reading_what_became_of_it_opens_both_again(shop: Shop) -> None:
    child = shop.child()
    pay(child, "A", "lost")
    assert pay(shop.run, "A") == "unknown_side_effect"
    assert child.mode is shop.run.mode is Mode.READ_ONLY

    shop.till.shows = {"payment_id": "P-1"}
    child.call("status_of", {"order": "A"})

    assert child.mode is shop.run.mode is Mode.OPEN


def test_a_reconciling_read_may_be_a_tool_of_the_parent_alone(shop: Shop) -> None:
    child = shop.tooled(shop.run.child(), "status_of")
    pay(child, "A", "lost")
    shop.till.shows = {"payment_id": "P-1"}

    assert pay(child, "A") == "duplicate_write"
    assert shop.till.asked == ["A"]
    assert child.call("status_of", {"order": "A"})["reason"] == "invalid_arguments"


def test_what_was_denied_to_one_is_denied_to_the_other(shop: Shop) -> None:
    child = shop.child()
    assert pay(child, "A", "denied") == "DeniedError"

    assert pay(shop.run, "A", "denied") == "repeated_denial"
    assert pay(child, "A", "denied") == "repeated_denial"
    assert child.mode is Mode.STOPPED
    assert shop.run.mode is Mode.OPEN


def test_a_message_of_the_user_begins_a_new_piece_of_work_for_all(shop: Shop) -> None:
    child = shop.child()
    pay(shop.run, "A")
    assert pay(child, "A") == "duplicate_write"

    shop.run.user_message()

    assert pay(child, "A") == "paid"


# -- circuits and what is under way


def test_a_tool_that_is_down_is_down_for_both_and_probed_once() -> None:
    specs = {"look": SPECS["look"]}
    breaker = Breaker(specs=specs, circuit=CircuitPolicy(errors=2, cooldown=1))
    run = breaker.run()
    child = run.child()

    for number, each in enumerate((run, child)):
        call = ToolCall(call_id=f"{number}", tool="look", arguments={"order": f"{number}"})
        assert each.decide(call).allowed
        each.settle(call, Outcome(status=Status.TRANSIENT, error="down"))

    def asked(each: Any, number: int) -> bool:
        call = ToolCall(call_id=f"{number}", tool="look", arguments={"order": f"{number}"})
        return bool(each.decide(call).allowed)

    assert not asked(child, 7)  # completes the cooldown
    assert [asked(run, 8), asked(child, 9)] == [True, False]
    assert child.last_reason is Reason.CIRCUIT_OPEN


def test_one_question_is_not_under_way_more_often_than_patience_allows() -> None:
    shop = Shop()
    child = shop.child()
    calls = [ToolCall(call_id=f"{n}", tool="look", arguments={"order": "A"}) for n in range(8)]

    told = [run.decide(call) for run, call in zip([shop.run, child] * 4, calls, strict=True)]

    assert [each.allowed for each in told] == [True] * 6 + [False] * 2, "three of each"


def test_a_child_goes_on_in_turns_that_no_other_has() -> None:
    """Failures of parent and child in their first turns are two turns, not one."""
    run = Breaker(specs=SPECS, circuit=CircuitPolicy(errors=2)).run()
    child = run.child()

    for each in (run, child):
        each.before_model()
        call = ToolCall(call_id="1", tool="look", arguments={"order": "A"})
        each.decide(call)
        each.settle(call, Outcome(status=Status.TRANSIENT, error="down"))

    assert run.last_reason is Reason.CIRCUIT_OPEN


# -- stopping


def test_a_stopped_parent_stops_its_children_and_theirs(shop: Shop) -> None:
    child = shop.child()
    grandchild = shop.child(parent=child)
    other = shop.begun()

    shop.run.interrupt("enough")

    assert child.mode is grandchild.mode is Mode.STOPPED
    assert grandchild.last_reason is Reason.CANCELLED
    assert grandchild.call("look", {"order": "A"})["reason"] == "cancelled"
    assert other.mode is Mode.OPEN


def test_a_child_that_was_let_through_is_not_begun_once_its_parent_stops(shop: Shop) -> None:
    child = shop.child()
    controller = child._controller  # noqa: SLF001 - no public moment is there

    call = ToolCall(call_id="1", tool="look", arguments={"order": "A"})
    assert controller.propose(call).allowed
    shop.run.interrupt("enough")
    with controller.launch(call) as verdict:
        assert verdict.reason is Reason.CANCELLED

    assert child.stats().in_flight == 0


def test_a_parent_that_may_only_read_lets_no_child_write(shop: Shop) -> None:
    child = shop.child()
    pay(shop.run, "A", "vanished")
    assert pay(shop.run, "A") == "unknown_side_effect"

    assert child.mode is Mode.READ_ONLY
    assert pay(child, "B") == "unknown_side_effect"
    assert shop.till.paid == []


def test_a_child_that_gets_nowhere_does_not_stop_its_parent(shop: Shop) -> None:
    child = shop.child()
    for _ in range(3):
        child.call("look", {"order": "A"})

    assert child.last_reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert shop.run.mode is Mode.OPEN
    assert shop.run.call("look", {"order": "A"}) == {"order": "A"}


def test_what_a_child_finds_out_is_no_progress_of_its_parent(shop: Shop) -> None:
    child = shop.child()
    for number in range(12):
        child.call("look", {"order": f"{number}"})
    for _ in range(3):
        shop.run.call("look", {"order": "A"})

    assert shop.run.last_reason is Reason.REPEATED_INTENT_SAME_OUTCOME


def test_a_run_that_ends_takes_its_children_with_it(shop: Shop) -> None:
    child = shop.child()

    assert shop.run.close() is None
    assert child.call("look", {"order": "A"})["reason"] == "cancelled"
    assert child.close() is None
    assert child.close() is None


def test_a_child_whose_write_is_under_way_when_its_parent_ends_leaves_it_unknown(
    shop: Shop,
) -> None:
    child = shop.child()
    call = ToolCall(call_id="1", tool="pay", arguments={"order": "A"})
    assert child.decide(call).allowed

    record = shop.run.close()

    assert record is not None
    assert record.reason is Reason.UNKNOWN_SIDE_EFFECT
    assert [each.status for each in record.writes] == [WriteStatus.UNKNOWN]


def test_a_child_that_ends_leaves_what_others_have_under_way_alone(shop: Shop) -> None:
    one, other = shop.child("one"), shop.child("other")
    calls = [ToolCall(call_id="1", tool="pay", arguments={"order": o}) for o in "AB"]
    shop.run.decide(calls[0])
    other.decide(calls[1])

    assert one.close() is None
    shop.run.settle(calls[0], Outcome(status=Status.OK))
    other.settle(calls[1], Outcome(status=Status.OK))
    assert other.close() is None
    assert shop.run.close() is None


# -- records, exits, events


def test_an_interrupted_child_says_whose_it_is() -> None:
    shop = Shop()
    with pytest.raises(Interrupted) as told, shop.child("billing") as child:
        child.interrupt("enough")

    record = told.value.record
    assert (record.run_id, record.parent, record.agent) == ("id-1/1", "id-1", "billing")
    assert shop.breaker.store.record_of("id-1/1") == record
    assert shop.run.close() is None


def test_the_parents_interruption_surfaces_and_not_the_childs() -> None:
    shop = Shop()
    with pytest.raises(Interrupted) as told, shop.run as run, shop.child():
        run.interrupt("enough")

    assert told.value.record.run_id == run.run_id
    assert isinstance(told.value.__cause__, Interrupted)


def test_a_childs_interruption_passes_through_a_parent_that_is_open() -> None:
    shop = Shop()
    with pytest.raises(Interrupted) as told, shop.run, shop.child() as child:
        child.interrupt("enough")

    assert told.value.record.run_id == child.run_id


def test_a_record_tells_of_every_write_of_the_family() -> None:
    shop = Shop(budget=RunBudget(max_side_effects=3))
    child = shop.child()
    pay(shop.run, "A")
    pay(child, "B")
    pay(shop.child(parent=child), "C")
    shop.run.interrupt("enough")

    record = shop.run.close()

    assert record is not None
    assert [each.run_id for each in record.writes] == ["id-1", "id-1/1", "id-1/1/2"]


def test_a_resumed_parent_knows_what_its_children_have_written() -> None:
    shop = Shop()
    child = shop.child()
    pay(child, "A", amount=1)
    pay(child, "A", amount=2)
    shop.run.interrupt("enough")
    record = shop.run.close()
    assert record is not None

    resumed = shop.tooled(
        shop.breaker.resume(
            Resume(run_id=record.run_id, token_version=1, operator="ada"),
            authorise=lambda *_: True,
            reload=lambda _: None,
        )
    )

    # As in the run itself: the other write in between excuses the first.
    assert pay(resumed, "A", amount=1) == "paid"
    assert pay(resumed, "A", amount=1) == "duplicate_write"
    assert shop.child(parent=resumed).run_id == "id-1/2.1"


def test_events_carry_the_run_and_share_their_numbers(shop: Shop) -> None:
    child = shop.child("billing")
    child.call("look", {"order": "A"})
    shop.run.call("look", {"order": "B"})

    told = shop.timeline.of(BreakerEvent)
    assert [(type(each).__name__, each.run_id) for each in told] == [
        ("ChildBegun", "id-1"),
        ("Decided", "id-1/1"),
        ("Settled", "id-1/1"),
        ("Decided", "id-1"),
        ("Settled", "id-1"),
    ]
    (begun,) = shop.timeline.of(ChildBegun)
    assert (begun.child, begun.agent) == ("id-1/1", "billing")


def test_calls_carry_the_name_of_the_sub_agent() -> None:
    seen: list[str | None] = []

    def policy(call: ToolCall, _spec: ToolSpec) -> None:
        seen.append(call.agent)

    run = Breaker(specs=SPECS, policy=policy).run()
    child = run.child("billing")
    for each in (run, child):
        each.guard({"look": lambda order: order})
        each.call("look", {"order": "A"})
    child.call("look", {"order": "B"}, agent="other")

    assert seen == [None, "billing", "other"]


def test_a_child_has_postconditions_of_its_own() -> None:
    shop = Shop()
    child = shop.tooled(shop.run.child(postconditions={"paid": lambda: bool(shop.till.paid)}))
    child.call("look", {"order": "A"})

    assert child.finish().detail == "not true: paid"
    assert shop.run.finish().state == "completed"


# -- tasks


def test_children_work_side_by_side() -> None:
    budget = RunBudget(max_side_effects=3)
    breaker = Breaker(specs=SPECS, budget=budget)
    paid: list[str] = []

    async def send(order: str) -> str:
        await asyncio.sleep(0)
        paid.append(order)
        return order

    async def work(run: Any, name: str) -> list[Any]:
        with run.child(name) as child:
            tools = child.guard({"pay": send})
            return [await tools["pay"](order) for order in ("A", "B", "C")]

    async def all_of_them() -> Any:
        with breaker.run() as run:
            return await asyncio.gather(*(work(run, name) for name in "xyz"))

    told = asyncio.run(all_of_them())

    assert sorted(paid) == ["A", "B", "C"]
    refused = [each for one in told for each in one if isinstance(each, dict)]
    assert {each["reason"] for each in refused} == {"duplicate_write"}
    assert len(refused) == 6


# -- properties

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "end", "pay", "look", "stop", "turn"]),
        st.integers(0, 5),
        st.sampled_from(["A", "B", "C"]),
        st.sampled_from(["ok", "ok", "lost", "vanished", "definite"]),
    ),
    max_size=40,
)


@settings(max_examples=80, deadline=None)
@given(STEPS, st.integers(0, 3))
def test_no_family_gets_past_its_limits_or_its_stop(
    steps: list[tuple[str, int, str, str]], slots: int
) -> None:
    shop = Shop(budget=RunBudget(max_side_effects=slots, max_subagents=3, max_turns=4))
    family = [shop.run]

    for what, which, order, fate in steps:
        run = family[which % len(family)]
        closed_before = run.mode is Mode.STOPPED
        dispatched = len(shop.till.paid) + len(shop.till.looked)
        if what == "begin":
            with suppress(ChildRefusedError):
                family.append(shop.child(parent=run))
        elif what == "end" and run is not shop.run:
            run.close()
        elif what == "pay":
            pay(run, order, fate)
        elif what == "look":
            run.call("look", {"order": order})
        elif what == "turn":
            run.before_model()
        elif what == "stop":
            run.interrupt("enough")
        if closed_before:
            assert len(shop.till.paid) + len(shop.till.looked) == dispatched
        if shop.run.mode is Mode.STOPPED:
            # Those that had ended by then are not stopped, and dispatch nothing either.
            look = ToolCall(call_id="look", tool="look", arguments={"order": "A"})
            assert not any(each.decide(look).allowed for each in family)
        assert all(0 <= line.remaining <= line.limit for line in shop.run.budgets())
        assert len(family) <= 4

    assert len(shop.till.paid) <= slots


def test_a_childs_stop_is_told_once_for_each_run(shop: Shop) -> None:
    shop.child()
    shop.run.interrupt("enough")

    assert [each.run_id for each in shop.timeline.of(ModeChange)] == ["id-1", "id-1/1"]


def test_ids_of_children_that_wrote_nothing_are_forgotten() -> None:
    store = MemoryLedger()
    run = Breaker(store=store, specs=SPECS).run()
    for _ in range(50):
        run.child().close()

    assert run.stats().mode is Mode.OPEN
    assert len(run._controller.memory().kin) == 1  # noqa: SLF001 - what is kept is not told
