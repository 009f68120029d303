"""Real threads against one run: the order of events in the timeline is what is judged."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Breaker, Effect, Mode, RunBudget, ToolSpec
from pytest_tripwire.timeline import (
    Dispatch,
    ModeChange,
    Mutation,
    Timeline,
    WorldEvent,
    Writer,
    WriteStatus,
)


@pytest.fixture(autouse=True, scope="module")
def _threads_switch_often() -> Iterator[None]:
    # With the usual 5 ms a thread does all its work in one go, and nothing is tested.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


class NothingHappenedError(Exception):
    """Comes before any effect."""


class StagedTool:
    """Tells the timeline that it was entered in the very moment that it is started."""

    def __init__(self, name: str, effect: Effect, world: Writer[WorldEvent], **fates: Any) -> None:
        self.name, self.effect, self.world, self.fates = name, effect, world, fates

    def start(self, order: str, fate: str = "ok") -> Callable[[], Any]:
        number = self.world.append(
            Dispatch(tool=self.name, role=self.name, effect=self.effect, resource=order)
        )
        return lambda: self._work(number, order, fate)

    def __call__(self, order: str, fate: str = "ok") -> Any:
        return self.start(order, fate)()

    def _work(self, number: int, order: str, fate: str) -> dict[str, Any]:
        if fate == "definite":
            raise NothingHappenedError
        if self.effect is Effect.WRITE:
            self.world.append(Mutation(dispatch=number, resource=order, version=1))
        if fate == "lost":
            raise TimeoutError
        return {"payment_id": f"P-{number}"}


SPECS = {
    "pay": ToolSpec(
        name="pay",
        effect=Effect.WRITE,
        identity=("order",),
        volatile=("fate",),
        definite_failures=(NothingHappenedError,),
    ),
    "look": ToolSpec(name="look", effect=Effect.READ),
}


class Crowd:
    """Threads that pass a barrier together and then work through their own steps."""

    def __init__(self, budget: RunBudget, size: int) -> None:
        self.timeline = Timeline(lambda: 0.0)
        world = self.timeline.writer(WorldEvent)
        self.breaker = Breaker(budget=budget)
        self.run = self.breaker.run(timeline=self.timeline)
        tools = {
            "pay": StagedTool("pay", Effect.WRITE, world),
            "look": StagedTool("look", Effect.READ, world),
        }
        self.run.guard(tools, SPECS)
        self.gate = threading.Barrier(size)
        self.size = size
        self.outside: list[Any] = []

    def go(self, work: Callable[[int], None]) -> None:
        def body(number: int) -> None:
            self.gate.wait(30)
            work(number)

        threads = [threading.Thread(target=body, args=(n,)) for n in range(self.size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not any(thread.is_alive() for thread in threads)

    def pay(self, order: str, fate: str) -> Any:
        try:
            return self.run.call("pay", {"order": order, "fate": fate})
        except (TimeoutError, NothingHappenedError):
            return None
        finally:
            self.look_at_budgets()

    def look_at_budgets(self) -> None:
        lines = self.run.budgets()
        self.outside.extend(line for line in lines if not 0 <= line.remaining <= line.limit)

    def check(self) -> None:
        assert self.outside == []
        mode = Mode.OPEN
        for event in self.timeline.events():
            if isinstance(event, ModeChange):
                mode = event.mode
            if isinstance(event, Dispatch):
                assert mode is not Mode.STOPPED, event
                assert mode is Mode.OPEN or event.effect is Effect.READ, event

    def mutations(self) -> int:
        return len(self.timeline.of(Mutation))


def test_a_stop_waits_for_a_tool_that_is_just_being_entered() -> None:
    crowd = Crowd(RunBudget(max_turns=0), 1)
    stops = threading.Thread(target=crowd.run.before_model)
    world = crowd.timeline.writer(WorldEvent)

    class Slow(StagedTool):
        """Lets another thread stop the run while this one is entered."""

        def start(self, order: str, fate: str = "ok") -> Callable[[], Any]:
            stops.start()
            stops.join(0.05)
            return super().start(order, fate)

    crowd.run.guard({"pay": Slow("pay", Effect.WRITE, world)}, SPECS)
    paid = crowd.pay("A", "ok")
    stops.join(20)

    crowd.check()
    assert paid == {"payment_id": "P-2"}
    assert crowd.run.mode is Mode.STOPPED


def test_thirty_two_threads_share_the_slots_that_there_are() -> None:
    crowd = Crowd(RunBudget(max_side_effects=5, max_tool_calls=100), 32)

    crowd.go(lambda number: crowd.pay(f"A-{number}", "ok"))

    crowd.check()
    # Whoever was admitted and not yet started when the run stopped gave its slot back.
    paid = crowd.mutations()
    assert 0 <= paid <= 5
    assert crowd.run.mode is Mode.STOPPED
    assert len(crowd.timeline.of(ModeChange)) == 1
    assert {line.name: line.remaining for line in crowd.run.budgets()} == {
        "max_side_effects": 5 - paid,
        "max_tool_calls": 100 - paid,
    }
    statuses = [each.status for each in crowd.breaker.store.of_run(crowd.run.run_id)]
    assert statuses.count(WriteStatus.CONFIRMED) == paid
    assert set(statuses) <= {WriteStatus.CONFIRMED, WriteStatus.REJECTED}


def test_thirty_two_threads_that_write_the_same_write_once() -> None:
    crowd = Crowd(RunBudget(), 32)

    crowd.go(lambda _: crowd.pay("A", "ok"))

    crowd.check()
    assert crowd.mutations() == 1
    assert crowd.run.mode is Mode.OPEN


def test_nothing_is_dispatched_once_the_run_stopped() -> None:
    """One thread runs out of turns while the others write as fast as they can."""
    for seed in range(5):
        crowd = Crowd(RunBudget(max_turns=20), 8)

        def work(number: int, crowd: Crowd = crowd, seed: int = seed) -> None:
            if number == 0:
                for _ in range(30):
                    crowd.run.before_model()
                return
            for step in range(30):
                crowd.pay(f"A-{number}-{step}-{seed}", "ok")

        crowd.go(work)

        crowd.check()
        assert crowd.run.mode is Mode.STOPPED
        assert crowd.mutations() == len(crowd.timeline.of(Dispatch))


def test_no_write_is_dispatched_over_a_lost_one() -> None:
    crowd = Crowd(RunBudget(), 32)

    crowd.go(lambda number: [crowd.pay("A-1", "lost"), crowd.pay(f"B-{number}", "ok")])  # type: ignore[arg-type, return-value]

    crowd.check()
    assert len([each for each in crowd.timeline.of(Dispatch) if each.resource == "A-1"]) == 1


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["A", "B", "C", "D", "E", "F"]),
        st.sampled_from(["ok", "ok", "definite", "lost"]),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=15, deadline=None)
@given(STEPS, st.sampled_from([2, 8, 32]), st.integers(0, 4), st.integers(0, 2**16))
def test_budgets_and_stops_hold_whatever_threads_do(
    steps: list[tuple[str, str]], size: int, slots: int, seed: int
) -> None:
    crowd = Crowd(RunBudget(max_side_effects=slots, max_tool_calls=40, max_turns=2), size)

    def work(number: int) -> None:
        mine = random.Random(seed + number).sample(steps, len(steps))  # noqa: S311 - an order
        for order, fate in mine:
            crowd.pay(order, fate)
        if number % 8 == 0:
            crowd.run.before_model()
        crowd.run.call("look", {"order": "A"})
        crowd.look_at_budgets()

    crowd.go(work)

    crowd.check()
    assert crowd.mutations() <= slots
    assert len(crowd.timeline.of(Dispatch)) <= 40
    assert [each.seq for each in crowd.timeline.events()] == list(
        range(1, len(crowd.timeline.events()) + 1)
    )
