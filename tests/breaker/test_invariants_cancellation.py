"""Cancelled at every await: nothing stays under way, nothing is lost, nothing is left waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    CircuitPolicy,
    Effect,
    Mode,
    Outcome,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
)
from pytest_tripwire.timeline import WriteStatus


class Tick:
    """One await."""

    def __await__(self) -> Any:
        yield


async def tick(times: int = 1) -> None:
    for _ in range(times):
        await Tick()


class Clock:
    """Sleeping is one await."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    async def asleep(self, seconds: float) -> None:
        await tick()
        self.seconds += seconds

    async def within(self, _seconds: float, work: Awaitable[Any]) -> Any:
        return await work


class Desk:
    """Async tools of three awaits each."""

    def __init__(
        self, *, deadline: float | None = None, lost: bool = False, errors: int = 9
    ) -> None:
        self.sent: list[str] = []
        self.done: list[str] = []
        specs = {
            "pay": ToolSpec(
                name="pay",
                effect=Effect.WRITE,
                identity=("order",),
                reconcile="status_of",
                late_effect_s=5,
            ),
            "look": ToolSpec(name="look", effect=Effect.READ),
            "status_of": ToolSpec(name="status_of", effect=Effect.READ),
        }
        self.breaker = Breaker(
            specs=specs,
            clock=Clock(),  # type: ignore[arg-type]
            budget=RunBudget(
                max_side_effects=3, max_tool_calls=20, deadline_s=deadline, max_calls_per_minute=20
            ),
            circuit=CircuitPolicy(errors=errors, cooldown=1),
        )
        self.run: Any = self.breaker.run()
        self.run.guard({"pay": self.pay, "look": self.look, "status_of": self.status_of})
        if lost:
            call = ToolCall(call_id="lost", tool="pay", arguments={"order": "lost"})
            self.run.decide(call)
            self.run.settle(call, Outcome(status=Status.UNKNOWN))

    async def pay(self, order: str) -> dict[str, str]:
        self.sent.append(order)
        await tick(3)
        self.done.append(order)
        return {"payment_id": f"P-{order}"}

    async def look(self, order: str) -> dict[str, str]:
        await tick(3)
        return {"order": order}

    async def status_of(self, order: str) -> dict[str, Any]:
        await tick(2)
        return {"payment_id": f"P-{order}" if order in self.done else None}

    def check(self) -> None:
        """Nothing is under way any more, and what may have been sent is known to be so."""
        assert self.run.stats().in_flight == 0
        entries = self.breaker.store.of_run(self.run.run_id)
        assert all(each.status is not WriteStatus.IN_FLIGHT for each in entries)
        slots = {line.name: line.spent for line in self.run.budgets()}["max_side_effects"]
        unsure = {WriteStatus.CONFIRMED, WriteStatus.UNKNOWN}
        assert slots == sum(each.status in unsure for each in entries)
        assert all(0 <= line.remaining <= line.limit for line in self.run.budgets())


def cancelled_at(coroutine: Coroutine[Any, Any, Any], step: int, error: BaseException) -> bool:
    """Drive a coroutine to its n-th await and throw there; whether it came so far."""
    for _ in range(step):
        try:
            coroutine.send(None)
        except StopIteration:
            return False
    with pytest.raises(type(error)):
        coroutine.throw(error)
    return True


def finished(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Drive a coroutine to its end."""
    while True:
        try:
            coroutine.send(None)
        except StopIteration as end:
            return end.value


def awaits(make: Callable[[], Coroutine[Any, Any, Any]]) -> int:
    """How often a coroutine waits."""
    coroutine, count = make(), 0
    while True:
        try:
            coroutine.send(None)
        except StopIteration:
            return count
        count += 1


ERRORS = [asyncio.CancelledError(), GeneratorExit(), KeyboardInterrupt()]
kinds = pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
deadlines = pytest.mark.parametrize("deadline", [None, 60.0], ids=["no deadline", "deadline"])


def every_step(make: Callable[[], tuple[Desk, Coroutine[Any, Any, Any]]]) -> list[int]:
    """The awaits of what `make` makes, none left out."""
    count = awaits(lambda: make()[1])
    assert count >= 2
    return list(range(1, count + 1))


@kinds
@deadlines
def test_a_cancelled_read_leaves_nothing_behind(
    error: BaseException, deadline: float | None
) -> None:
    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk(deadline=deadline)
        return desk, desk.run.acall("look", {"order": "A"})

    for step in every_step(make):
        desk, work = make()
        assert cancelled_at(work, step, error)
        desk.check()
        assert finished(desk.run.acall("look", {"order": "A"})) == {"order": "A"}
        assert desk.run.close() is None


@kinds
@deadlines
def test_a_cancelled_write_is_unknown_and_its_read_settles_it(
    error: BaseException, deadline: float | None
) -> None:
    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk(deadline=deadline)
        return desk, desk.run.acall("pay", {"order": "A"})

    for step in every_step(make):
        desk, work = make()
        assert cancelled_at(work, step, error)
        desk.check()
        # Nothing was done by then; the read says so once a late effect would have shown.
        told = finished(desk.run.acall("pay", {"order": "A"}))
        assert told == {"payment_id": "P-A"}
        assert desk.done == ["A"]
        desk.check()
        assert desk.run.close() is None


@kinds
def test_a_cancelled_reconciliation_can_be_made_again(error: BaseException) -> None:
    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk(lost=True)
        return desk, desk.run.acall("pay", {"order": "lost"})

    for step in every_step(make):
        desk, work = make()
        assert cancelled_at(work, step, error)
        desk.check()
        assert desk.done == []
        assert finished(desk.run.acall("pay", {"order": "lost"})) == {"payment_id": "P-lost"}
        assert desk.run.mode is Mode.OPEN


@kinds
def test_a_cancelled_message_leaves_none_of_its_calls_under_way(error: BaseException) -> None:
    calls = [
        ToolCall(call_id=f"{n}", tool=tool, arguments={"order": order})
        for n, (tool, order) in enumerate(
            [("pay", "A"), ("look", "A"), ("pay", "lost"), ("pay", "B")]
        )
    ]

    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk(lost=True)
        return desk, desk.run.adecide_batch(calls)

    for step in every_step(make):
        desk, work = make()
        assert cancelled_at(work, step, error)
        desk.check()
        verdicts = finished(desk.run.adecide_batch(calls))
        assert [each.allowed for each in verdicts] == [True] * 4
        # Three slots for three writes: the lost one did not happen, and a cancelled one never was.
        more = ToolCall(call_id="more", tool="pay", arguments={"order": "C"})
        assert str(desk.run.decide(more).reason) == "side_effect_budget"


@kinds
def test_a_cancelled_probe_is_nobodys_probe(error: BaseException) -> None:
    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk(errors=1)
        down = ToolCall(call_id="1", tool="look", arguments={"order": "down"})
        desk.run.decide(down)
        desk.run.settle(down, Outcome(status=Status.TRANSIENT, error="down"))
        cooldown = ToolCall(call_id="2", tool="look", arguments={"order": "cooldown"})
        assert not desk.run.decide(cooldown).allowed
        return desk, desk.run.acall("look", {"order": "probe"})

    for step in every_step(make):
        desk, work = make()
        assert cancelled_at(work, step, error)
        desk.check()
        assert finished(desk.run.acall("look", {"order": "next"})) == {"order": "next"}


@kinds
def test_a_cancelled_child_leaves_its_parent_free(error: BaseException) -> None:
    async def delegate(desk: Desk) -> Any:
        with desk.run.child("billing") as child:
            tools = child.guard({"pay": desk.pay, "look": desk.look})
            await tools["look"]("A")
            return await tools["pay"]("A")

    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk()
        return desk, delegate(desk)

    for step in every_step(make):
        desk, work = make()
        with pytest.raises(BaseException) as told:  # noqa: PT011 - an interruption, or the error
            cancelled_at_any(work, step, error)
        assert told.value is error or told.value.__cause__ is error or "unknown" in str(told.value)
        assert desk.run.stats().in_flight == 0
        assert finished(desk.run.acall("look", {"order": "B"})) == {"order": "B"}
        assert finished(desk.run.acall("pay", {"order": "A"})) == {"payment_id": "P-A"}
        assert desk.done == ["A"]


def cancelled_at_any(coroutine: Coroutine[Any, Any, Any], step: int, error: BaseException) -> None:
    for _ in range(step):
        coroutine.send(None)
    coroutine.throw(error)


@kinds
def test_a_cancelled_try_ends_with_its_task(error: BaseException) -> None:
    async def tries(desk: Desk) -> Any:
        with desk.run.task("book"):
            return await desk.run.acall("look", {"order": "A"})

    def make() -> tuple[Desk, Coroutine[Any, Any, Any]]:
        desk = Desk()
        return desk, tries(desk)

    for step in every_step(make):
        desk, work = make()
        assert cancelled_at(work, step, error)
        desk.check()


def test_an_error_of_the_clock_leaves_nothing_under_way() -> None:
    desk = Desk(lost=True)
    calls = [
        ToolCall(call_id=f"{n}", tool="pay", arguments={"order": order})
        for n, order in enumerate(("A", "lost"))
    ]

    assert cancelled_at(desk.run.adecide_batch(calls), 1, OSError("no clock"))
    desk.check()


PLANS = st.lists(
    st.tuples(
        st.sampled_from(["pay", "look", "status_of"]),
        st.sampled_from(["A", "B", "lost"]),
        st.none() | st.integers(0, 8),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(PLANS, st.booleans())
def test_tasks_side_by_side_may_be_cancelled_at_any_moment(
    plan: list[tuple[str, str, int | None]],
    lost: bool,  # noqa: FBT001 - drawn
) -> None:
    """Each is (tool, order, the tick at which it is cancelled)."""
    desk = Desk(lost=lost)

    async def work() -> None:
        tasks = [asyncio.create_task(desk.run.acall(t, {"order": o})) for t, o, _ in plan]
        for moment in range(12):
            for task, (*_, cancelled) in zip(tasks, plan, strict=True):
                if cancelled == moment:
                    task.cancel()
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(work())

    desk.check()
    assert len(desk.done) == len(set(desk.done))
