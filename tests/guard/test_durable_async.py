"""A store that is slow holds up its own call and nothing else; one that is cut short leaves nothing
behind.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from pytest_tripwire.breaker import Breaker, BreakerRun, Mode, RunBudget, ToolSpec
from pytest_tripwire.guard import Interrupted
from pytest_tripwire.ledger import MemoryLedger, StoreError
from pytest_tripwire.timeline import ToolCall, WriteEntry, WriteStatus

SPECS = {
    "pay": ToolSpec(name="pay", effect="write", identity=("order",)),
    "pay_sync": ToolSpec(name="pay_sync", effect="write", operation="pay", identity=("order",)),
    "look": ToolSpec(name="look", effect="read"),
}
LIMITS = RunBudget(max_side_effects=9, max_tool_calls=50)
BACKENDS = pytest.mark.parametrize("backend", ["asyncio", "trio"])
#: A test that waits so long has hung.
HUNG_S = 20


class SlowStore(MemoryLedger):
    """Durable, and as slow as a test says: a gate that is shut holds up whoever comes to it."""

    durable = True
    owner = "here"

    def __init__(self) -> None:
        super().__init__()
        self.gates: dict[str, threading.Event] = {}
        self.reached: dict[str, threading.Event] = {}
        self.failing: set[str] = set()
        self.threads: dict[str, int] = {}

    def shut(self, name: str) -> None:
        self.gates[name], self.reached[name] = threading.Event(), threading.Event()

    def open(self, name: str) -> None:
        self.gates.pop(name).set()

    def _at(self, name: str) -> None:
        self.threads[name] = threading.get_ident()
        if name in self.reached:
            self.reached[name].set()
        if name in self.gates:
            assert self.gates[name].wait(HUNG_S)
        if name in self.failing:
            raise StoreError(f"the disk is full at {name}")

    def begin(self, entry: WriteEntry, conflict: Any, **about: Any) -> WriteEntry | None:
        self._at("begin")
        return super().begin(entry, conflict, **about)

    def settle(self, key: str, status: WriteStatus, **about: Any) -> None:
        self._at("settle")
        super().settle(key, status, **about)

    async def has_reached(self, name: str) -> None:
        """Return when somebody has come to a gate; the loop is free meanwhile."""
        reached = await anyio.to_thread.run_sync(self.reached[name].wait, HUNG_S)
        assert reached


class Till:
    """One run over a slow store, and what its tools did."""

    def __init__(self) -> None:
        self.store = SlowStore()
        self.begun: list[str] = []
        self.run: BreakerRun = Breaker(store=self.store, specs=SPECS, budget=LIMITS).run(
            request_id="message-1"
        )
        self.run.guard({name: getattr(self, name) for name in SPECS}, SPECS)

    async def pay(self, order: str) -> dict[str, str]:
        self.begun.append(order)
        await anyio.lowlevel.checkpoint()
        return {"id": f"P-{order}"}

    def pay_sync(self, order: str) -> dict[str, str]:
        self.begun.append(order)
        return {"id": f"P-{order}"}

    async def look(self, order: str) -> str:
        return f"{order} {len(self.begun)}"

    @property
    def slots(self) -> float:
        return next(line.spent for line in self.run.budgets() if line.name == "max_side_effects")

    @property
    def calls(self) -> float:
        return next(line.spent for line in self.run.budgets() if line.name == "max_tool_calls")

    def statuses(self) -> list[str]:
        return [each.status.value for each in self.store.of_run(self.run.run_id)]

    def proposed(self, tool: str, order: str) -> ToolCall:
        return ToolCall(call_id=f"{tool}-{order}", tool=tool, arguments={"order": order})

    def pays_again(self, order: str = "A") -> Any:
        """What a payment after all this gives: nothing is under way any more."""
        return self.run.call("pay_sync", {"order": order})


@pytest.fixture
def till() -> Till:
    return Till()


def on(backend: str, work: Callable[[], Awaitable[Any]]) -> Any:
    async def timed() -> Any:
        with anyio.fail_after(HUNG_S):
            return await work()

    return anyio.run(timed, backend=backend)


async def until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        await anyio.lowlevel.checkpoint()


class Beat:
    """A task that goes on as long as its loop does."""

    def __init__(self) -> None:
        self.beats = 0

    async def __call__(self) -> None:
        while True:
            self.beats += 1
            await anyio.lowlevel.checkpoint()

    async def goes_on(self) -> None:
        before = self.beats
        await until(lambda: self.beats >= before + 5)


#: Roads to a write of order A, by name.
ROADS: dict[str, Callable[[Till], Awaitable[Any]]] = {
    "acall": lambda till: till.run.acall("pay", {"order": "A"}),
    "acall of a sync tool": lambda till: till.run.acall("pay_sync", {"order": "A"}),
    "adecide": lambda till: till.run.adecide(till.proposed("pay", "A")),
    "adecide_batch": lambda till: till.run.adecide_batch(
        [till.proposed("look", "A"), till.proposed("pay", "B"), till.proposed("pay", "A")]
    ),
}


# -- the loop goes on


@BACKENDS
@pytest.mark.parametrize("gate", ["begin", "settle"])
@pytest.mark.parametrize("tool", ["pay", "pay_sync"])
def test_the_loop_goes_on_while_the_store_is_written(
    till: Till, backend: str, gate: str, tool: str
) -> None:
    till.store.shut(gate)
    results: list[Any] = []

    async def pays() -> None:
        results.append(await till.run.acall(tool, {"order": "A"}))

    async def work() -> None:
        beat = Beat()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beat)
            tasks.start_soon(pays)
            await till.store.has_reached(gate)
            await beat.goes_on()
            assert till.begun == ([] if gate == "begin" else ["A"])
            assert not results
            till.store.open(gate)
            await until(lambda: bool(results))
            tasks.cancel_scope.cancel()

    on(backend, work)
    assert till.statuses() == ["confirmed"]
    assert results == [{"id": "P-A"}]


@BACKENDS
def test_a_batch_leaves_the_loop_too(till: Till, backend: str) -> None:
    till.store.shut("begin")

    async def work() -> Any:
        beat, verdicts = Beat(), []

        async def decides() -> None:
            verdicts.extend(await ROADS["adecide_batch"](till))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beat)
            tasks.start_soon(decides)
            await till.store.has_reached("begin")
            await beat.goes_on()
            till.store.open("begin")
            await until(lambda: bool(verdicts))
            tasks.cancel_scope.cancel()
        return verdicts

    assert [each.allowed for each in on(backend, work)] == [True, True, True]


@BACKENDS
def test_reads_of_the_run_hold_up_nobody_while_a_write_is_told(till: Till, backend: str) -> None:
    """They wait for it, as a run decides one thing after another; the loop does not."""
    till.store.shut("begin")
    read: list[Any] = []

    async def work() -> None:
        beat = Beat()

        async def looks(order: str) -> None:
            read.append(await till.run.acall("look", {"order": order}))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beat)
            tasks.start_soon(till.run.acall, "pay", {"order": "A"})
            await till.store.has_reached("begin")
            for order in "ABC":
                tasks.start_soon(looks, order)
            await beat.goes_on()
            till.store.open("begin")
            await until(lambda: len(read) == 3)
            tasks.cancel_scope.cancel()

    on(backend, work)
    assert len(read) == 3


@BACKENDS
@pytest.mark.parametrize("tool", ["pay", "look"])
def test_a_call_that_was_let_through_begins_while_another_write_is_told(
    till: Till, backend: str, tool: str
) -> None:
    """The run's lock is somebody else's then; the loop must not wait for it."""

    async def work() -> Any:
        beat, results = Beat(), []
        call = till.proposed(tool, "A")
        verdict = await till.run.adecide(call)
        till.store.shut("begin")

        async def performs() -> None:
            results.append(await till.run.aperform(call, verdict))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(beat)
            tasks.start_soon(till.run.acall, "pay", {"order": "B"})
            await till.store.has_reached("begin")
            opener = threading.Timer(HUNG_S / 4, till.store.open, ["begin"])
            opener.start()  # or a loop that is held up would never end
            tasks.start_soon(performs)
            await beat.goes_on()
            assert "begin" in till.store.gates, "the loop was held up until the store was done"
            opener.cancel()
            till.store.open("begin")
            await until(lambda: bool(results))
            tasks.cancel_scope.cancel()
        return results

    assert on(backend, work) in ([{"id": "P-A"}], ["A 0"], ["A 1"])


# -- cut short


@BACKENDS
@pytest.mark.parametrize("road", ROADS)
def test_cancelled_while_it_is_told_leaves_nothing_behind(
    till: Till, backend: str, road: str
) -> None:
    till.store.shut("begin")

    async def work() -> None:
        ended = []

        async def calls() -> None:
            try:
                await ROADS[road](till)
            finally:
                ended.append(True)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(calls)
            await till.store.has_reached("begin")
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                assert not ended, "the store is written to the end"
                till.store.open("begin")
        assert ended

    on(backend, work)
    assert till.begun == []
    assert set(till.statuses()) == {"rejected"}
    assert (till.slots, till.calls) == (0, 0)
    assert till.pays_again() == {"id": "P-A"}
    assert till.run.close() is None


@BACKENDS
def test_cancelled_while_it_is_settled_is_settled_all_the_same(till: Till, backend: str) -> None:
    till.store.shut("settle")

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(till.run.acall, "pay", {"order": "A"})
            await till.store.has_reached("settle")
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                till.store.open("settle")

    on(backend, work)
    assert till.statuses() == ["confirmed"]
    assert till.pays_again()["reason"] == "duplicate_write"
    assert till.slots == 1


@BACKENDS
@pytest.mark.parametrize("tool", ["pay", "look"])
def test_cancelled_while_it_waits_for_another_write_to_be_told(
    till: Till, backend: str, tool: str
) -> None:
    async def work() -> None:
        call = till.proposed(tool, "A")
        verdict = await till.run.adecide(call)
        till.store.shut("begin")
        ended = []

        async def performs() -> None:
            try:
                await till.run.aperform(call, verdict)
            finally:
                ended.append(True)

        async with anyio.create_task_group() as outer:
            outer.start_soon(till.run.acall, "pay", {"order": "B"})
            await till.store.has_reached("begin")
            opener = threading.Timer(HUNG_S / 4, till.store.open, ["begin"])
            opener.start()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(performs)
                for _ in range(3):
                    await anyio.lowlevel.checkpoint()
                assert "begin" in till.store.gates, "the loop was held up"
                opener.cancel()
                tasks.cancel_scope.cancel()
                till.store.open("begin")
            assert ended

    on(backend, work)
    assert till.begun == ["B"]
    assert till.pays_again("A") == {"id": "P-A"}
    assert till.run.close() is None


# -- a store that fails


@BACKENDS
@pytest.mark.parametrize("road", ROADS)
def test_a_store_that_fails_before_lets_nothing_run(till: Till, backend: str, road: str) -> None:
    till.store.failing = {"begin"}

    with pytest.raises(StoreError, match="the disk is full at begin"):
        on(backend, lambda: ROADS[road](till))

    till.store.failing = set()
    assert till.begun == []
    assert till.statuses() == []
    assert (till.slots, till.calls) == (0, 0)
    assert till.pays_again() == {"id": "P-A"}
    assert till.run.close() is None


@BACKENDS
@pytest.mark.parametrize("tool", ["pay", "pay_sync"])
def test_a_store_that_fails_after_leaves_the_write_to_be_looked_into(
    till: Till, backend: str, tool: str
) -> None:
    till.store.failing = {"settle"}
    with pytest.raises(StoreError, match="the disk is full at settle"):
        on(backend, lambda: till.run.acall(tool, {"order": "A"}))
    till.store.failing = set()

    assert till.begun == ["A"]
    assert till.pays_again()["reason"] in {"duplicate_write", "unknown_side_effect"}
    assert till.slots == 1
    with pytest.raises(Interrupted) as told, till.run:
        pass
    assert [each.status for each in told.value.record.writes] == [WriteStatus.UNKNOWN]
    assert told.value.record.mode is Mode.READ_ONLY


@BACKENDS
def test_a_lost_answer_that_the_store_is_not_told_of_holds_what_comes_next(
    till: Till, backend: str
) -> None:
    """Another amount would pay twice, as much as the same."""

    async def lost(order: str, euros: int) -> None:
        till.begun.append(f"{order} {euros}")
        raise TimeoutError

    till.run.guard({"refund": lost}, {"refund": ToolSpec(
        name="refund", effect="write", identity=("order",)
    )})  # fmt: skip
    till.store.failing = {"settle"}
    with pytest.raises(TimeoutError):
        on(backend, lambda: till.run.acall("refund", {"order": "A", "euros": 10}))
    till.store.failing = set()

    refused = on(backend, lambda: till.run.acall("refund", {"order": "A", "euros": 11}))

    assert refused["reason"] == "unknown_side_effect"
    assert till.begun == ["A 10"]


@BACKENDS
def test_cancelled_in_the_tool_is_unknown_in_the_store_at_once(till: Till, backend: str) -> None:
    inside = threading.Event()

    async def waits(order: str) -> None:
        till.begun.append(order)
        inside.set()
        await anyio.sleep_forever()

    spec = ToolSpec(name="wait", effect="write", identity=("order",))
    till.run.guard({"wait": waits}, {"wait": spec})

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(till.run.acall, "wait", {"order": "A"})
            await anyio.to_thread.run_sync(inside.wait, HUNG_S)
            tasks.cancel_scope.cancel()

    on(backend, work)
    assert till.begun == ["A"]
    assert till.statuses() == ["unknown"]
    with pytest.raises(Interrupted, match="unknown"), till.run:
        pass
