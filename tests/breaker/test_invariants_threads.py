"""What holds with 32 threads at once: limits to the last slot, writes once, one probe, one try."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    ChildRefusedError,
    CircuitPolicy,
    Effect,
    Outcome,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Usage,
    progress,
)
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import WriteStatus

pytestmark = pytest.mark.usefixtures("threads_switch_often")

MANY = 32
SPECS = {
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",)),
    "pay_back": ToolSpec(
        name="pay_back", effect=Effect.WRITE, operation="pay", identity=("order",)
    ),
    "look": ToolSpec(name="look", effect=Effect.READ),
}


class Still:
    """Time stands still, and looking at it lets other threads run: between any two checks."""

    def now(self) -> float:
        time.sleep(1e-5)
        return 0.0


class Slow(str):
    """A name that lets other threads run whenever it is looked up."""

    __slots__ = ()

    def __hash__(self) -> int:
        time.sleep(1e-5)
        return super().__hash__()


class Crowd:
    """Threads that pass a barrier together, over one run; each watches the budgets as it goes."""

    def __init__(self, *, circuit: CircuitPolicy | None = None, **limits: Any) -> None:
        self.breaker = Breaker(
            specs=SPECS,
            budget=RunBudget(**limits),
            circuit=circuit,
            clock=Still(),  # type: ignore[arg-type]
        )
        self.run: Any = self.breaker.run()
        self.outside: list[Any] = []
        self.failed: list[BaseException] = []

    def go(self, work: Callable[[int], None], many: int = MANY) -> None:
        gate = threading.Barrier(many)

        def body(number: int) -> None:
            try:
                gate.wait(30)
                work(number)
                self.look_at_budgets()
            except BaseException as error:  # noqa: BLE001 - told in the test's own thread
                self.failed.append(error)

        threads = [threading.Thread(target=body, args=(number,)) for number in range(many)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)
        assert self.failed == []
        assert self.outside == []

    def look_at_budgets(self) -> None:
        lines = self.run.budgets()
        self.outside += [line for line in lines if not 0 <= line.remaining <= line.limit]

    def propose(self, number: int, tool: str, run: Any = None, **arguments: Any) -> ToolCall | None:
        """Propose; returns the call if it was let through."""
        call = ToolCall(call_id=f"c{number}", tool=tool, arguments=arguments)
        verdict = (run or self.run).decide(call)
        self.look_at_budgets()
        return call if verdict.allowed else None

    def settle(self, call: ToolCall, status: Status = Status.OK, run: Any = None) -> None:
        (run or self.run).settle(call, Outcome(status=status, result={"id": call.call_id}))

    def left(self) -> dict[str, float]:
        return {line.name: line.remaining for line in self.run.budgets()}


def test_slots_are_given_to_the_last_and_no_further() -> None:
    crowd = Crowd(max_side_effects=7, max_tool_calls=100)
    sent: list[ToolCall] = []

    def work(number: int) -> None:
        call = crowd.propose(number, "pay", order=f"A-{number}")
        if call is not None:
            sent.append(call)
            crowd.settle(call)

    crowd.go(work)

    assert len(sent) == 7
    assert crowd.left() == {"max_side_effects": 0, "max_tool_calls": 93}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rule about progress has a say, however many fail one after the other."""
    monkeypatch.setattr(progress, "RULES", ())
    monkeypatch.setattr(progress, "LOOSE_RULES", ())


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("status", [Status.DEFINITE, Status.DENIED])
def test_slots_of_what_did_not_happen_come_back_to_the_last(status: Status) -> None:
    crowd = Crowd(max_side_effects=MANY)
    happened: list[int] = []

    def work(number: int) -> None:
        call = crowd.propose(number, "pay", order=f"A-{number}")
        assert call is not None
        if number % 2:
            happened.append(number)
        crowd.settle(call, Status.OK if number % 2 else status)

    crowd.go(work)

    assert crowd.left() == {"max_side_effects": MANY - len(happened)}


def test_one_write_runs_once_by_whatever_tool_and_in_whatever_words() -> None:
    crowd = Crowd()
    sent: list[ToolCall] = []

    def work(number: int) -> None:
        tool = "pay" if number % 2 else "pay_back"
        call = crowd.propose(number, tool, order="A", request_id=f"n-{number}")
        if call is not None:
            sent.append(call)
            crowd.settle(call)

    crowd.go(work)

    assert len(sent) == 1


def test_one_write_runs_once_over_runs_that_share_a_store() -> None:
    store = MemoryLedger()
    crowd = Crowd()
    runs = [
        Breaker(specs=SPECS, store=store).run(tenant="acme", request_id="m-1") for _ in range(MANY)
    ]
    sent: list[ToolCall] = []

    def work(number: int) -> None:
        for order in ("A", "B"):
            call = crowd.propose(number, "pay", runs[number], order=order)
            if call is not None:
                sent.append(call)
                crowd.settle(call, run=runs[number])

    crowd.go(work)

    assert sorted(each.arguments["order"] for each in sent) == ["A", "B"]


def test_one_write_runs_once_in_a_family() -> None:
    crowd = Crowd(max_side_effects=50)
    family = [crowd.run, *(crowd.run.child(f"{number}") for number in range(7))]
    sent: list[ToolCall] = []

    def work(number: int) -> None:
        run = family[number % len(family)]
        for order in ("A", "B", f"own-{number}"):
            call = crowd.propose(number, "pay", run, order=order)
            if call is not None:
                sent.append(call)
                crowd.settle(call, run=run)

    crowd.go(work)

    assert Counter(each.arguments["order"] for each in sent).most_common(1)[0][1] == 1
    assert len(sent) == MANY + 2
    assert crowd.left() == {"max_side_effects": 50 - len(sent)}
    assert len(crowd.breaker.store.of_run(crowd.run.run_id)) + sum(
        len(crowd.breaker.store.of_run(each.run_id)) for each in family[1:]
    ) == len(sent)


def test_a_minute_holds_as_many_calls_as_it_may() -> None:
    crowd = Crowd(max_calls_per_minute=9)
    sent: list[ToolCall] = []

    def work(number: int) -> None:
        call = crowd.propose(number, "look", order=f"{number}")
        if call is not None:
            sent.append(call)
            crowd.settle(call)

    crowd.go(work)

    assert len(sent) == 9


def test_a_minute_gives_back_what_was_not_sent() -> None:
    crowd = Crowd(max_calls_per_minute=MANY)

    def work(number: int) -> None:
        call = crowd.propose(number, "look", order=f"{number}")
        assert call is not None
        crowd.run.withdraw(call)

    crowd.go(work)
    crowd.go(work)


@pytest.mark.parametrize("status", [Status.OK, Status.TRANSIENT, None])
def test_one_probe_is_under_way_and_no_more(status: Status | None) -> None:
    """With `None` the probe is taken back."""
    crowd = Crowd(circuit=CircuitPolicy(errors=1, cooldown=1))
    first = crowd.propose(0, "look", order="first")
    assert first is not None
    crowd.settle(first, Status.TRANSIENT)
    assert crowd.propose(1, "look", order="cooldown") is None
    probes: list[ToolCall] = []

    def work(number: int) -> None:
        call = crowd.propose(10 + number, "look", order=f"{number}")
        if call is not None:
            probes.append(call)

    crowd.go(work)

    (probe,) = probes
    if status is None:
        crowd.run.withdraw(probe)
    else:
        crowd.settle(probe, status)
    then = crowd.propose(99, "look", order="then") is not None
    assert then is (status is not Status.TRANSIENT)


def test_a_task_is_tried_as_often_as_it_may() -> None:
    crowd = Crowd(max_attempts_per_task=5)
    tried: list[bool] = []

    def work(number: int) -> None:
        with crowd.run.task(Slow("book")) as attempt:
            call = crowd.propose(number, "look", order=f"{number}")
            assert (call is not None) is attempt.allowed
            tried.append(attempt.allowed)

    crowd.go(work)

    assert sorted(tried) == [False] * (MANY - 5) + [True] * 5


def test_as_many_sub_agents_begin_as_may() -> None:
    crowd = Crowd(max_subagents=6)
    begun: list[Any] = []

    def work(number: int) -> None:
        with suppress(ChildRefusedError):
            begun.append(crowd.run.child(f"{number}"))

    crowd.go(work)

    assert len(begun) == 6
    assert len({each.run_id for each in begun}) == 6


def test_one_intent_is_dispatched_as_often_as_it_may() -> None:
    crowd = Crowd(max_same_intent=3, max_no_progress_steps=99)
    sent: list[ToolCall] = []

    def work(number: int) -> None:
        call = crowd.propose(number, "look", order="A")
        if call is not None:
            sent.append(call)

    crowd.go(work)

    assert len(sent) == 3


def test_no_request_is_sent_above_the_turns_or_the_money() -> None:
    crowd = Crowd(max_turns=20, max_model_cost_usd=Decimal("1.0"))
    sent: list[int] = []

    def work(number: int) -> None:
        if crowd.run.before_model(Decimal("0.1")).allowed:
            sent.append(number)
            crowd.look_at_budgets()
            crowd.run.after_model(Usage(cost_usd=Decimal("0.1")))

    crowd.go(work)

    assert len(sent) == 10
    assert crowd.left() == {"max_turns": 10, "max_model_cost_usd": 0}


def test_messages_that_are_decided_whole_share_what_there_is() -> None:
    crowd = Crowd(max_side_effects=40)
    sent: list[str] = []

    def work(number: int) -> None:
        calls = [
            ToolCall(call_id=f"{number}-{n}", tool="pay", arguments={"order": order})
            for n, order in enumerate(("A", "A", f"own-{number}"))
        ]
        for call, verdict in zip(calls, crowd.run.decide_batch(calls), strict=True):
            if verdict.allowed:
                sent.append(call.arguments["order"])
                crowd.settle(call)

    crowd.go(work)

    assert len(sent) == len(set(sent)) == MANY + 1


def test_a_stop_is_a_stop_for_a_family_in_many_threads() -> None:
    crowd = Crowd()
    family = [crowd.run, *(crowd.run.child() for _ in range(3))]
    stopped = threading.Event()
    late: list[str] = []

    def work(number: int) -> None:
        run = family[number % len(family)]
        if number == 5:
            crowd.run.interrupt("enough")
            stopped.set()
        for step in range(5):
            before = stopped.is_set()
            call = crowd.propose(number, "look", run, order=f"{number}-{step}")
            if call is not None:
                crowd.settle(call, run=run)
                late.extend([call.call_id] if before else [])

    crowd.go(work)

    assert late == []


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pay", "pay_back", "look"]),
        st.sampled_from(["A", "B", "C", "D"]),
        st.sampled_from([Status.OK, Status.OK, Status.DEFINITE, Status.UNKNOWN, Status.TRANSIENT]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=12, deadline=None)
@given(STEPS, st.integers(0, 4), st.integers(0, 3), st.booleans())
def test_whatever_threads_do_nothing_is_spent_twice_or_sent_twice(
    steps: list[tuple[str, str, Status]],
    slots: int,
    children: int,
    shadow: bool,  # noqa: FBT001 - drawn
) -> None:
    crowd = Crowd(max_side_effects=slots, max_tool_calls=60)
    mode: Any = "shadow" if shadow else "enforce"
    breaker = Breaker(
        specs=SPECS, budget=RunBudget(max_side_effects=slots, max_tool_calls=60), mode=mode
    )
    crowd.run = breaker.run()
    family = [crowd.run, *(crowd.run.child() for _ in range(children))]
    done: list[tuple[str, str]] = []

    def work(number: int) -> None:
        run = family[number % len(family)]
        for step, (tool, order, status) in enumerate(steps[number % len(steps) :] + steps):
            call = crowd.propose(1000 * number + step, tool, run, order=order)
            if call is not None:
                crowd.settle(call, status, run)
                if tool != "look" and status is not Status.DEFINITE:
                    done.append((order, str(status)))

    crowd.go(work, 8)

    assert all(each.stats().in_flight == 0 for each in family)
    if not shadow:
        assert len(done) <= slots
        assert {"max_side_effects": slots - len(done)}.items() <= crowd.left().items()
        assert max(Counter(order for order, _ in done).values(), default=0) <= 1
    entries = [entry for each in family for entry in breaker.store.of_run(each.run_id)]
    assert all(entry.status is not WriteStatus.IN_FLIGHT for entry in entries)
