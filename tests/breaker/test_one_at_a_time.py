"""A run is used by one thread at a time: whatever is asked of it waits at its lock until whoever
holds it lets go, and is done by the time that it lets go itself.

The lock tells when somebody knocks, so that nothing here depends on which thread is faster.
"""

from __future__ import annotations

import inspect
import queue
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from pytest_tripwire.breaker import Controller, Usage
from pytest_tripwire.breaker.findings import stuck
from pytest_tripwire.breaker.outside import Outside
from pytest_tripwire.breaker.progress import Trip
from pytest_tripwire.breaker.visible import Visible
from pytest_tripwire.timeline import WriteStatus

from .driver import (
    Outcome,
    Reason,
    Reconcile,
    RunBudget,
    Status,
    ToolCall,
    Witness,
    ok,
    read,
    write,
)

PATIENCE_S = 30
ENOUGH = stuck(
    Trip(reason=Reason.ERROR_STREAK, count=1, limit=1, evidence=(), what="nothing goes well")
)


class Door:
    """The lock of a run. Tells who knocks, and how the run stood when they let go of it."""

    def __init__(self, lock: Any, told: queue.Queue[str], look: Callable[[], Any]) -> None:
        self._lock = lock
        self.told = told
        self._look = look
        self.left: Any = None

    def __enter__(self) -> None:
        self.told.put("knocks")
        self._lock.__enter__()

    def __exit__(self, *raised: object) -> None:
        self.left = self._look()
        self._lock.__exit__(*raised)


class House:
    """A run in which a look and a payment are under way, and a lost payment is to be read back."""

    def __init__(self) -> None:
        self.driver = Witness(
            read("look"),
            write("pay", identity=("order",), reconcile="look", late_effect_s=0.0),
            budget=RunBudget(max_tool_calls=50, max_model_cost_usd=Decimal(5), deadline_s=60),
        )
        self.run = self.driver.run
        self.lost, _ = self.driver.propose("pay", order="lost")
        self.driver.settle(self.lost, Outcome(status=Status.UNKNOWN, error="Timeout"))
        self.question = self.run.propose(a_call("pay", order="lost"))
        assert isinstance(self.question, Reconcile)
        self.look, _ = self.driver.propose("look", of="A")
        self.run.before_model(Decimal("0.5"))
        self.told: queue.Queue[str] = queue.Queue()
        self.door = self._lock_up()

    def _lock_up(self) -> Door:
        self.core = self.run._core  # noqa: SLF001 - a run shows neither its lock nor what it guards
        door = Door(self.core.kin.lock, self.told, self.stands)
        self.run._lock = self.run.outside._lock = self.core.kin.lock = door  # noqa: SLF001 - as above
        return door

    def stands(self) -> Any:
        """All that can be seen to change, looked at without the lock."""
        core, state = self.core, self.core.state
        return {
            "mode": (core.mode, state.ended),
            "under way": [each.proposal.call.call_id for each in state.admissions.waiting],
            "round": (core.kin.last, state.batches, state.turns),
            "children": [each.run_id for each in core.children],
            "tries": core.kin.tasks.attempts(),
            "user": (core.kin.messages, list(core.kin.changed), state.parked_s),
            "run": (core.run_id, core.context.epoch),
            "tools": sorted(core.specs),
            "budgets": [(line.name, line.spent) for line in core.accounts.lines()],
            "writes": [each.status for each in core.ledger.of_run("run")],
            "told": len(self.driver.timeline.events()),
        }


def a_call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="another", tool=tool, arguments=arguments)


def launched(house: House) -> None:
    with house.run.launch(house.look):
        pass


def expired(house: House) -> None:
    house.driver.clock.seconds = 61
    house.run.expire()


#: What may be asked of a run. The first group changes something that can be seen.
CHANGING: dict[str, Callable[[House], object]] = {
    "propose": lambda house: house.run.propose(a_call("look", of="B")),
    "together": lambda house: house.run.together(),
    "withdraw": lambda house: house.run.withdraw(house.look),
    "settle": lambda house: house.run.settle(house.look, ok("text")),
    "reconciled": lambda house: house.run.reconciled(house.question, ok({"order": "lost"})),
    "before_model": lambda house: house.run.before_model(),
    "after_model": lambda house: house.run.after_model(Usage(cost_usd=Decimal("0.2"))),
    "model_failed": lambda house: house.run.model_failed(),
    "child": lambda house: house.run.child("helper", {}),
    "attempt": lambda house: house.run.attempt("book"),
    "declare": lambda house: house.run.declare(read("find")),
    "stop": lambda house: house.run.stop(ENOUGH),
    "expire": expired,
    "finished": lambda house: house.run.finished("failed", "it is late"),
    "end": lambda house: house.run.end(),
    "user_message": lambda house: house.run.outside.user_message(),
    "changed": lambda house: house.run.outside.changed("A"),
    "parked": lambda house: house.run.outside.parked(5.0),
    "taken_up": lambda house: house.run.outside.taken_up("run-2"),
    "begun": lambda house: house.run.outside.begun("run-2"),
    "resolve": lambda house: house.run.outside.resolve(house.lost, WriteStatus.CONFIRMED),
}
OTHERS: dict[str, Callable[[House], object]] = {
    "launch": launched,
    "key_of": lambda house: house.run.key_of(house.look),
    "memory": lambda house: house.run.memory(),
    "close": lambda house: house.run.close(),
    "stats": lambda house: house.run.stats(),
    "would_have": lambda house: house.run.would_have(),
    "backoff": lambda house: house.run.backoff(),
    "park": lambda house: house.run.outside.park(a_call("pay", order="B")),
    "approve": lambda house: house.run.outside.approve("another"),
    "policy_is": lambda house: house.run.outside.policy_is("2"),
}
#: These look at one thing that is replaced as a whole, or that has a lock of its own; or they are
#: about the lock itself.
WITHOUT = {"has_tool", "budgets", "refusal", "waits_for_store", "let_tell"}


def asked_by_another(house: House, operation: Callable[[House], object]) -> Any:
    """Let a thread ask while this one holds the lock; returns how the run stood when the thread had
    to wait. Fails if it did not have to.
    """
    failed: list[BaseException] = []

    def work() -> None:
        try:
            operation(house)
        except BaseException as error:  # noqa: BLE001 - told in the test's own thread
            failed.append(error)
        house.told.put("is done")

    thread = threading.Thread(target=work)
    with house.door:
        assert house.told.get(timeout=PATIENCE_S) == "knocks"
        thread.start()
        assert house.told.get(timeout=PATIENCE_S) == "knocks", "it is done without the lock"
        waiting = house.stands()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert failed == []
    return waiting


@pytest.mark.parametrize("name", [*CHANGING, *OTHERS])
def test_nobody_is_served_while_another_holds_the_lock(name: str) -> None:
    house = House()
    before = house.stands()

    assert asked_by_another(house, {**CHANGING, **OTHERS}[name]) == before


@pytest.mark.parametrize("name", CHANGING)
def test_all_is_done_by_the_time_that_the_lock_is_let_go(name: str) -> None:
    house = House()
    before = house.stands()

    CHANGING[name](house)

    assert house.door.left == house.stands() != before


def test_children_wait_at_the_lock_of_the_run_that_began_them() -> None:
    house = House()
    child = house.run.child("helper", {})
    assert child.propose(a_call("look", of="B")).allowed
    house.told = house.door.told = queue.Queue()

    asked_by_another(house, lambda _: child.settle(a_call("look", of="B"), ok("text")))

    assert child.stats().in_flight == 0


def test_whatever_can_be_asked_of_a_run_is_tested_here() -> None:
    public = {
        name
        for owner in (Controller, Visible, Outside)
        for name, what in vars(owner).items()
        if inspect.isfunction(what) and not name.startswith("_")
    }

    assert public == {*CHANGING, *OTHERS, *WITHOUT}
