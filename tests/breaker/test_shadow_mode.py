"""A run that is only watched: everything runs, and what would have been done is told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    CircuitPolicy,
    Decision,
    Denial,
    Effect,
    Mode,
    Outcome,
    Reason,
    Resume,
    ResumeRefusedError,
    RunBudget,
    StateError,
    Status,
    ToolCall,
    ToolSpec,
    Usage,
)
from pytest_tripwire.breaker.shadow import MOST_LISTED
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import (
    BreakerEvent,
    Decided,
    ModeChange,
    Nudged,
    Timeline,
    WriteEntry,
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
        denials=("DeniedError",),
    ),
    "approve": ToolSpec(
        name="approve", effect=Effect.WRITE, identity=("order",), requires_approval=True
    ),
    "look": ToolSpec(name="look", effect=Effect.READ),
    "status_of": ToolSpec(name="status_of", effect=Effect.READ),
}


class DeniedError(Exception):
    """The desk says no."""


class Till:
    """Counts what it does."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.looked: list[str] = []
        self.asked: list[str] = []

    def pay(self, order: str, fate: str = "ok") -> dict[str, str]:
        self.paid.append(order)
        if fate == "denied":
            raise DeniedError
        if fate != "ok":
            raise TimeoutError
        return {"payment_id": f"P-{len(self.paid)}"}

    def approve(self, order: str) -> str:
        self.paid.append(order)
        return "approved"

    def look(self, order: str = "") -> dict[str, str]:
        self.looked.append(order)
        return {"order": order}

    def status_of(self, order: str) -> dict[str, str]:
        self.asked.append(order)
        return {"payment_id": "P-1"}


class Shop:
    """One breaker that only watches, and one that enforces, over the same store."""

    def __init__(self, **options: Any) -> None:
        self.till = Till()
        self.store = MemoryLedger()
        self.timeline = Timeline(lambda: 0.0)
        self.options = {"specs": SPECS, "store": self.store, **options}
        self.run = self.begun("shadow")

    def begun(self, mode: Any, **about: Any) -> Any:
        run = Breaker(mode=mode, **self.options).run(timeline=self.timeline, **about)
        run.guard({name: getattr(self.till, name) for name in SPECS})
        return run


def told(run: Any) -> list[str]:
    return [str(each.reason) for each in run.would_have]


def lose(run: Any, order: str) -> None:
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": order, "fate": "lost"})


@pytest.fixture
def shop() -> Shop:
    return Shop()


# -- everything runs


def test_the_usual_way_is_to_enforce() -> None:
    run = Breaker().run()

    assert not run.shadow
    assert run.would_have == ()


def test_a_mode_that_does_not_exist_is_named() -> None:
    with pytest.raises(ValueError, match=r"mode='watch'.*'enforce' or 'shadow'"):
        Breaker(mode="watch")  # type: ignore[arg-type]


def test_a_write_runs_again_and_it_is_told_that_it_would_not_have(shop: Shop) -> None:
    for _ in range(2):
        assert "payment_id" in shop.run.call("pay", {"order": "A"})

    (would,) = shop.run.would_have
    assert shop.till.paid == ["A", "A"]
    assert (would.decision, would.reason) == (Decision.REFUSE, Reason.DUPLICATE_WRITE)
    assert (would.tool, would.call_id, would.stops) == ("pay", "call-2", False)
    assert "already done" in would.message
    assert would.evidence == (1, 2)


def test_no_read_is_made_and_nothing_is_held(shop: Shop) -> None:
    lose(shop.run, "A")

    assert shop.run.call("pay", {"order": "A"}) == {"payment_id": "P-2"}
    assert shop.run.call("pay", {"order": "B"}) == {"payment_id": "P-3"}
    assert shop.till.asked == []
    assert shop.run.mode is Mode.OPEN
    assert told(shop.run) == ["unknown_side_effect"]
    assert shop.run.would_have[0].stops
    assert shop.run.would_have[0].decision is Decision.ALLOW_READ_ONLY


def test_the_end_raises_nothing_and_stores_no_interruption(shop: Shop) -> None:
    with shop.run as run:
        lose(run, "A")
        for _ in range(5):
            run.call("look", {"order": "A"})
        run.interrupt("enough")

    assert run.terminal.state == "completed"
    assert shop.store.record_of(run.run_id) is None
    assert run.mode is Mode.OPEN
    assert "cancelled" in told(run)


def test_a_write_that_is_left_unknown_is_told_at_the_end(shop: Shop) -> None:
    lose(shop.run, "A")

    assert shop.run.close() is None
    assert told(shop.run) == ["unknown_side_effect"]


def test_a_model_request_is_always_let_through() -> None:
    shop = Shop(budget=RunBudget(max_turns=2, max_model_cost_usd=Decimal("0.5")))

    for _ in range(5):
        assert shop.run.before_model().allowed
        shop.run.after_model(Usage(prompt_tokens=10, cost_usd=Decimal("0.2")))

    assert {line.name: line.spent for line in shop.run.budgets()} == {
        "max_turns": 5,
        "max_model_cost_usd": 1.0,
    }
    assert told(shop.run) == ["cost_budget", "turn_budget"]
    assert [each.again for each in shop.run.would_have] == [2, 2]
    assert shop.run.stats().turns == 5
    assert shop.run.stats().cost_usd == Decimal("1.0")
    assert all(line.remaining == 0 for line in shop.run.budgets())


def test_a_request_whose_cost_nobody_knows_is_told_once() -> None:
    shop = Shop(budget=RunBudget(max_model_cost_usd=Decimal(5)))

    for _ in range(3):
        assert shop.run.before_model().allowed
        shop.run.after_model(Usage())

    assert told(shop.run) == ["cost_unknown"]
    assert shop.run.would_have[0].again == 2


def test_a_request_that_would_not_be_sent_is_promised_nothing() -> None:
    """Requests are paid in the order in which they were opened, this one too."""
    shop = Shop(budget=RunBudget(max_model_cost_usd=Decimal("0.5")))
    for estimate in ("0.4", "0.4", "0.1"):
        assert shop.run.before_model(Decimal(estimate)).allowed
    for _ in range(2):
        shop.run.after_model(Usage(cost_usd=Decimal("0.1")))

    (line,) = shop.run.budgets()
    assert line.spent == pytest.approx(0.3)  # 0.1 twice, and 0.1 that is promised


def test_arguments_that_the_tool_refuses_reach_it(shop: Shop) -> None:
    with pytest.raises(TypeError):
        shop.run.call("look", {"nothing": 1})

    assert told(shop.run) == ["invalid_arguments"]


def test_a_tool_that_is_not_there_cannot_run(shop: Shop) -> None:
    assert shop.run.call("nothing", {})["reason"] == "invalid_arguments"
    assert shop.run.stats().in_flight == 0


def test_whoever_runs_its_own_tools_is_let_through_with_any(shop: Shop) -> None:
    hostile = ToolCall(call_id="1", tool="look", arguments="no mapping")  # type: ignore[arg-type]
    unknown = ToolCall(call_id="2", tool="nobody's", arguments={})

    for call in (hostile, unknown):
        assert shop.run.decide(call).allowed
        shop.run.settle(call, Outcome(status=Status.OK))
    assert all(each.allowed for each in shop.run.decide_batch([hostile, unknown]))
    assert told(shop.run) == ["invalid_arguments"] * 4


def test_what_needs_an_approval_runs_and_is_not_put_up_for_one(shop: Shop) -> None:
    for order in ("A", "B", "A"):
        assert shop.run.call("approve", {"order": order}) == "approved"

    assert [(each.decision, each.reason) for each in shop.run.would_have] == [
        (Decision.REQUIRE_APPROVAL, Reason.DENIED),
        (Decision.REQUIRE_APPROVAL, Reason.DENIED),
        (Decision.REFUSE, Reason.DUPLICATE_WRITE),
    ]
    with pytest.raises(LookupError):
        shop.run.approve("call-1")


def test_results_carry_no_hint() -> None:
    shop = Shop()
    for _ in range(3):
        assert shop.run.call("look", {"order": "A"}) == {"order": "A"}

    assert [each.shadow for each in shop.timeline.of(Nudged)] == [True]


def test_a_call_at_the_deadline_is_not_cut_short() -> None:
    class Clock:
        seconds = 0.0

        def now(self) -> float:
            return self.seconds

        async def within(self, _seconds: float, _work: Any) -> Any:
            raise AssertionError("a run that is only watched has no deadline")

    clock = Clock()
    shop = Shop(budget=RunBudget(deadline_s=10), clock=clock)

    async def slow(order: str) -> str:
        clock.seconds += 60
        return order

    run = shop.run
    tools = run.guard({"look": slow})

    assert asyncio.run(tools["look"]("A")) == "A"
    assert asyncio.run(tools["look"]("B")) == "B"
    assert [(each.reason, each.again) for each in run.would_have] == [(Reason.DEADLINE, 1)]
    assert run.time_left == 0


def test_a_write_under_way_at_the_deadline_is_not_given_up() -> None:
    class Clock:
        seconds = 0.0

        def now(self) -> float:
            return self.seconds

    clock = Clock()
    shop = Shop(budget=RunBudget(deadline_s=10), clock=clock)
    call = ToolCall(call_id="1", tool="pay", arguments={"order": "A"})
    shop.run.decide(call)
    clock.seconds = 20
    shop.run.expire()

    assert [each.status for each in shop.store.of_run(shop.run.run_id)] == [WriteStatus.IN_FLIGHT]


def test_a_circuit_that_is_open_lets_calls_run_and_counts_them_as_rejected() -> None:
    shop = Shop(circuit=CircuitPolicy(errors=2, cooldown=2))

    def down(order: str) -> str:
        shop.till.looked.append(order)
        if len(shop.till.looked) < 5:
            raise ConnectionError
        return "up"

    tools = shop.run.guard({"look": down})
    for number in range(4):
        with pytest.raises(ConnectionError):
            tools["look"](f"{number}")
    assert tools["look"]("4") == "up"

    # Two errors open it, two calls are its cooldown, the fifth is the probe and closes it.
    assert told(shop.run) == ["circuit_open"] * 2
    assert tools["look"]("5") == "up"
    assert told(shop.run) == ["circuit_open"] * 2
    assert shop.run.backoff("look") == 1


def test_no_rate_holds_it_back() -> None:
    shop = Shop(budget=RunBudget(max_calls_per_minute=2))
    for number in range(5):
        shop.run.call("look", {"order": f"{number}"})

    assert len(shop.till.looked) == 5
    assert told(shop.run) == ["rate_limit"] * 3


def test_sub_agents_begin_and_are_told_of() -> None:
    shop = Shop(budget=RunBudget(max_subagents=1))

    with shop.run.child("one"), shop.run.child("two") as child:
        assert child.shadow
    assert told(shop.run) == ["subagent_budget"]


def test_a_task_is_tried_as_often_as_anybody_likes() -> None:
    shop = Shop(budget=RunBudget(max_attempts_per_task=1))
    for number in range(3):
        with shop.run.task("book"):
            assert shop.run.call("look", {"order": f"{number}"}) == {"order": f"{number}"}

    assert told(shop.run) == ["task_attempts"] * 2


# -- what is told


def test_a_stop_is_told_once_and_counted() -> None:
    shop = Shop(budget=RunBudget(max_tool_calls=3))
    for number in range(200):
        shop.run.call("look", {"order": f"{number}"})

    (would,) = shop.run.would_have
    assert (would.reason, would.stops, would.again) == (Reason.TOOL_CALL_BUDGET, True, 196)
    assert would.call_id == "call-4"
    assert shop.run.stats().not_run == 197
    assert shop.run.stats().calls == 200


def test_what_stopped_it_first_hides_nothing_that_comes_after() -> None:
    shop = Shop(
        budget=RunBudget(max_tool_calls=2),
        policy=lambda call, _: Denial(rule="r") if call.arguments.get("order") == "X" else None,
    )
    run = shop.run
    for order in ("A", "B", "C"):
        run.call("look", {"order": order})
    run.call("look", {"order": "X"})
    for _ in range(4):
        run.call("look", {"order": "loop"})
    run.call("pay", {"order": "P"})
    run.call("pay", {"order": "P"})

    assert told(run) == [
        "tool_call_budget",
        "denied",
        "repeated_intent_same_outcome",
        "duplicate_write",
    ]
    assert run.last_reason is Reason.TOOL_CALL_BUDGET


def test_one_spent_budget_does_not_hide_another() -> None:
    shop = Shop(budget=RunBudget(max_tool_calls=3, max_side_effects=1))
    for order in ("A", "B", "C", "D", "E"):
        shop.run.call("pay", {"order": order})

    assert told(shop.run) == ["side_effect_budget", "tool_call_budget"]


def test_loops_of_two_tools_are_told_of_both(shop: Shop) -> None:
    for _ in range(4):
        shop.run.call("look", {"order": "A"})
        shop.run.call("status_of", {"order": "A"})

    loops = [each for each in shop.run.would_have if each.stops]
    assert {each.tool for each in loops} == {"look", "status_of"}


def test_a_stop_names_the_call_whose_outcome_it_rests_on(shop: Shop) -> None:
    looks = [ToolCall(call_id=f"l{n}", tool="look", arguments={"order": "A"}) for n in range(3)]
    other = ToolCall(call_id="o", tool="status_of", arguments={"order": "B"})
    shop.run.decide(other)
    for call in looks:
        shop.run.decide(call)
        shop.run.settle(call, Outcome(status=Status.OK, result="the same"))

    (would,) = shop.run.would_have
    assert (would.call_id, would.tool) == ("l2", "look")


def test_what_ran_though_it_would_not_have_is_evidence_like_any_other(shop: Shop) -> None:
    for _ in range(3):
        shop.run.call("pay", {"order": "A"})

    assert [each.evidence for each in shop.run.would_have] == [(1, 2), (3, 4)]


def test_a_circuit_cools_down_though_the_run_would_be_over_by_then() -> None:
    shop = Shop(circuit=CircuitPolicy(errors=2, cooldown=3), budget=RunBudget(max_tool_calls=1))

    def down(order: str) -> str:
        shop.till.looked.append(order)
        if len(shop.till.looked) < 7:
            raise ConnectionError
        return "up"

    tools = shop.run.guard({"look": down})
    for number in range(6):
        with pytest.raises(ConnectionError):
            tools["look"](f"{number}")
    assert shop.run.backoff("look") == 4
    assert tools["look"]("6") == "up"

    # Its probe, the seventh call, has closed it.
    assert shop.run.backoff("look") == 1
    again = {each.reason: each.again for each in shop.run.would_have}
    assert (again[Reason.TOOL_CALL_BUDGET], again[Reason.CIRCUIT_OPEN]) == (5, 2)


def test_refusals_before_a_stop_are_told_one_by_one(shop: Shop) -> None:
    for order in ("A", "B", "A", "B", "A"):
        shop.run.call("pay", {"order": order})

    assert [each.call_id for each in shop.run.would_have] == ["call-3", "call-4", "call-5"]


def test_refusals_after_a_stop_are_told_once_and_counted() -> None:
    shop = Shop(budget=RunBudget(max_tool_calls=2))
    for order in ("A", "B", "C", "A", "B", "C"):
        shop.run.call("pay", {"order": order})

    assert [(each.reason, each.again) for each in shop.run.would_have] == [
        (Reason.TOOL_CALL_BUDGET, 2),
        (Reason.DUPLICATE_WRITE, 2),
    ]


def test_a_run_that_is_watched_for_ever_lists_so_many_and_no_more(shop: Shop) -> None:
    for number in range(2 * MOST_LISTED):
        shop.run.call("nothing", {"n": number})

    assert len(shop.run.would_have) == MOST_LISTED
    assert shop.run.stats().not_run == 2 * MOST_LISTED


def test_events_say_that_nothing_was_enforced() -> None:
    shop = Shop(budget=RunBudget(max_tool_calls=1))
    shop.run.call("look", {"order": "A"})
    shop.run.call("look", {"order": "B"})
    enforced = shop.begun("enforce")
    enforced.call("look", {"order": "A"})

    assert all(
        each.shadow == (each.run_id == shop.run.run_id) for each in shop.timeline.of(BreakerEvent)
    )
    refused = [each for each in shop.timeline.of(Decided) if each.reason]
    assert [each.decision for each in refused] == [Decision.INTERRUPT]
    (stop,) = shop.timeline.of(ModeChange)
    assert (stop.mode, stop.reason, stop.shadow) == (Mode.STOPPED, Reason.TOOL_CALL_BUDGET, True)


def test_one_warning_says_what_would_have_happened(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shop = Shop(budget=RunBudget(max_tool_calls=1))
    with caplog.at_level(logging.WARNING, "pytest_tripwire.breaker"):
        for number in range(9):
            shop.run.call("look", {"order": f"{number}"})

    (line,) = caplog.messages
    assert line == (f"run {shop.run.run_id}: would be stopped for tool_call_budget (events none)")


def test_what_would_be_refused_takes_nothing_of_a_budget() -> None:
    """So that budgets say what an enforced run would have used."""
    shop = Shop(budget=RunBudget(max_side_effects=2, max_tool_calls=10))
    for order in ("A", "A", "A", "B"):
        shop.run.call("pay", {"order": order})

    assert told(shop.run) == ["duplicate_write"] * 2
    assert {line.name: line.spent for line in shop.run.budgets()} == {
        "max_side_effects": 2,
        "max_tool_calls": 2,
    }


def test_a_slot_that_was_never_taken_is_not_given_back() -> None:
    """A duplicate that did not happen after all must not leave more slots than there are."""
    shop = Shop(budget=RunBudget(max_side_effects=1))
    lose(shop.run, "A")
    lose(shop.run, "A")

    assert shop.run.resolve("pay", {"order": "A"}, "rejected") == 2
    assert [(line.spent, line.remaining) for line in shop.run.budgets()] == [(0, 1)]


def test_children_of_a_run_that_would_be_stopped_would_not_run(shop: Shop) -> None:
    child = shop.run.child()
    child.guard({"look": shop.till.look})
    shop.run.interrupt("enough")

    assert child.call("look", {"order": "A"}) == {"order": "A"}
    assert child.stats().not_run == 1
    assert child.last_reason is Reason.CANCELLED


# -- a shared store


def test_an_enforced_run_knows_what_was_written_in_truth(shop: Shop) -> None:
    shop.run = shop.begun("shadow", request_id="m-1")
    for _ in range(2):
        shop.run.call("pay", {"order": "A"})
    lose(shop.run, "B")
    enforced = shop.begun("enforce", request_id="m-1")

    assert enforced.call("pay", {"order": "A"})["reason"] == "duplicate_write"
    assert enforced.call("pay", {"order": "C"}) == {"payment_id": "P-4"}
    assert enforced.call("pay", {"order": "B"})["reason"] == "duplicate_write"
    assert shop.till.asked == ["B"]


def test_what_would_have_stopped_one_run_stops_no_other(shop: Shop) -> None:
    for _ in range(5):
        shop.run.call("look", {"order": "A"})
    shop.run.interrupt("enough")
    enforced = shop.begun("enforce")

    assert enforced.call("look", {"order": "A"}) == {"order": "A"}
    assert enforced.call("pay", {"order": "A"}) == {"payment_id": "P-1"}
    assert enforced.close() is None


def test_a_breaker_that_only_watches_takes_no_interrupted_run_up(shop: Shop) -> None:
    enforced = shop.begun("enforce")
    enforced.interrupt("enough")
    record = enforced.close()
    wanted = Resume(run_id=record.run_id, token_version=1, operator="ada")

    with pytest.raises(ResumeRefusedError, match="only watches"):
        Breaker(mode="shadow", **shop.options).resume(
            wanted, authorise=lambda *_: True, reload=lambda _: None
        )
    assert shop.store.record_of(record.run_id) == record


def test_a_run_that_was_stopped_is_open_where_it_is_only_watched(shop: Shop) -> None:
    enforced = shop.begun("enforce")
    enforced.interrupt("enough")
    state = enforced.snapshot()
    watching = Breaker(mode="shadow", specs=SPECS)  # over another store, which knows of nothing
    run = watching.run(state=state)
    run.guard({"look": shop.till.look})

    assert run.call("look", {"order": "A"}) == {"order": "A"}
    assert (run.mode, run.last_reason) == (Mode.OPEN, Reason.CANCELLED)
    assert run.close() is None


def test_a_checkpoint_of_a_run_that_somebody_has_recorded_goes_on_where_it_is_only_watched(
    shop: Shop,
) -> None:
    lose(shop.run, "A")
    state = shop.run.snapshot()
    enforced = shop.begun("enforce", state=state)
    enforced.interrupt("enough")
    assert enforced.close() is not None

    run = shop.begun("shadow", state=state)

    assert run.call("look", {"order": "A"}) == {"order": "A"}
    assert run.close() is None
    with pytest.raises(StateError, match="was interrupted"):
        shop.begun("enforce", state=state)


class StoreError(Exception):
    """The store is down."""


class DownLedger(MemoryLedger):
    """Fails whatever it is asked."""

    def begin(self, entry: WriteEntry, conflict: Any, **about: Any) -> WriteEntry | None:
        raise StoreError

    def of_resource(self, resource: str) -> tuple[WriteEntry, ...]:
        raise StoreError

    def of_run(self, run_id: str) -> tuple[WriteEntry, ...]:
        raise StoreError

    def record_of(self, run_id: str) -> Any:
        raise StoreError

    def approvals_of(self, run_id: str) -> Any:
        raise StoreError

    def denials_of(self, run_id: str) -> Any:
        raise StoreError


def test_a_checkpoint_goes_on_though_the_store_is_down(shop: Shop) -> None:
    shop.run.call("pay", {"order": "A"})
    state = shop.run.snapshot()
    limits = RunBudget(max_side_effects=1)
    run = Shop(store=DownLedger(), budget=limits).begun("shadow", state=state)

    assert run.call("pay", {"order": "B"}) == {"payment_id": "P-1"}
    assert told(run) == ["side_effect_budget"]
    assert run.close() is None


def test_a_store_that_is_down_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    shop = Shop(store=DownLedger(), budget=RunBudget(max_side_effects=1))
    with caplog.at_level(logging.ERROR, "pytest_tripwire.breaker"), shop.run as run:
        for _ in range(3):
            assert "payment_id" in run.call("pay", {"order": "A"})
        lose(run, "A")

    assert len(shop.till.paid) == 4
    assert told(run) == ["side_effect_budget"]
    assert len(caplog.records) == 1
    assert "only watched and goes on" in caplog.text


def test_a_store_that_forgets_a_write_on_the_way_stops_nothing() -> None:
    class Forgets(MemoryLedger):
        def settle(self, key: str, status: WriteStatus, **about: Any) -> None:
            raise StoreError(key)

    shop = Shop(store=Forgets())

    assert shop.run.call("pay", {"order": "A"}) == {"payment_id": "P-1"}
    assert shop.run.close() is None


# -- properties

CALLS = st.lists(
    st.tuples(
        st.sampled_from(["pay", "look", "approve", "nothing", "turn"]),
        st.sampled_from(["A", "B", "C"]),
        st.sampled_from(["ok", "ok", "lost", "denied"]),
    ),
    max_size=30,
)


def plays(run: Any, steps: list[tuple[str, str, str]]) -> Iterator[Any]:
    """Take the steps; gives what each of them gave, or raised."""
    for tool, order, fate in steps:
        if tool == "turn":
            yield run.before_model().allowed
            continue
        more = {"fate": fate} if tool == "pay" else {}
        try:
            yield run.call(tool, {"order": order, **more})
        except (TimeoutError, DeniedError) as error:
            yield type(error)


def budget(slots: int, most: int) -> RunBudget:
    return RunBudget(max_side_effects=slots, max_tool_calls=most, max_turns=3)


@settings(max_examples=40, deadline=None)
@given(CALLS, st.integers(0, 3), st.integers(0, 12))
def test_watching_changes_nothing(steps: list[tuple[str, str, str]], slots: int, most: int) -> None:
    """A run that is only watched gives what the bare tools give."""
    shop, bare = Shop(budget=budget(slots, most)), Till()

    for (tool, order, fate), given_ in zip(steps, plays(shop.run, steps), strict=True):
        if tool == "turn":
            assert given_ is True
        elif tool == "nothing":
            assert given_["refused"]
        else:
            assert given_ == bare_result(bare, tool, order, fate)
        assert shop.run.mode is Mode.OPEN
        assert all(0 <= line.remaining <= line.limit for line in shop.run.budgets())
    assert shop.run.close() is None
    assert shop.till.paid == bare.paid


def bare_result(till: Till, tool: str, order: str, fate: str) -> Any:
    try:
        return till.pay(order, fate) if tool == "pay" else getattr(till, tool)(order)
    except (TimeoutError, DeniedError) as error:
        return type(error)


@settings(max_examples=40, deadline=None)
@given(CALLS, st.integers(0, 3), st.integers(0, 12))
def test_the_first_that_is_told_is_the_first_that_an_enforced_run_refuses(
    steps: list[tuple[str, str, str]], slots: int, most: int
) -> None:
    """But for a lost write: one that is enforced reads what became of it first."""
    specs = {**SPECS, "pay": msgspec.structs.replace(SPECS["pay"], reconcile=None)}
    watched, enforced = (Shop(budget=budget(slots, most), specs=specs) for _ in range(2))
    run = enforced.begun("enforce")

    for _ in zip(plays(watched.run, steps), plays(run, steps), strict=True):
        first = next(iter(run.stats().reasons), None) or run.last_reason
        would = watched.run.would_have
        assert (would[0].reason if would else None) == first
        if first is not None:
            break
