"""Whatever fails between, budgets stay within their limits and a stop is a stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Breaker, Effect, Mode, RunBudget, ToolSpec
from pytest_tripwire.guard import Interrupted
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import InterruptionRecord, ToolCall, WriteEntry, WriteStatus

LIMITS = RunBudget(max_tool_calls=6, max_side_effects=3, max_turns=4)


class LedgerError(Exception):
    """The store is down."""


class CancelledLike(BaseException):
    """Passes through `except Exception`, as a cancellation does."""


class NothingHappenedError(Exception):
    """Declared to come before any effect."""


class FlakyLedger(MemoryLedger):
    """Fails where the plan says so: before it stores, or after."""

    def __init__(self, plan: Sequence[str]) -> None:
        super().__init__()
        self._plan = list(plan)

    def _step(self, work: Callable[[], Any]) -> Any:
        fate = self._plan.pop(0) if self._plan else "ok"
        if fate == "fails":
            raise LedgerError(fate)
        result = work()
        if fate == "fails after":
            raise LedgerError(fate)
        return result

    def begin(self, entry: WriteEntry, conflict: Any, **about: Any) -> WriteEntry | None:
        return self._step(lambda: MemoryLedger.begin(self, entry, conflict, **about))

    def settle(self, key: str, status: WriteStatus, **about: Any) -> None:
        self._step(lambda: MemoryLedger.settle(self, key, status, **about))

    def store_record(self, record: InterruptionRecord) -> None:
        self._step(lambda: MemoryLedger.store_record(self, record))


class Till:
    """A tool that does as it is told, and counts what it did."""

    def __init__(self) -> None:
        self.dispatched: list[str] = []
        self.changed = 0

    def pay(self, order: str, amount: int, fate: str = "ok") -> dict[str, str]:
        self.dispatched.append(f"pay {order} {amount}")
        if fate == "definite":
            raise NothingHappenedError
        self.changed += 1
        if fate == "error":
            raise RuntimeError("who knows")
        if fate == "cancelled":
            raise CancelledLike
        return {"payment_id": f"P-{self.changed}"}

    def look(self, order: str) -> dict[str, Any]:
        self.dispatched.append(f"look {order}")
        return {"payment_id": f"P-{self.changed}" if self.changed else None}


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
STEPS = st.one_of(
    st.tuples(
        st.just("pay"),
        st.fixed_dictionaries(
            {
                "order": st.sampled_from(["A", "B", "C", "D"]),
                "amount": st.integers(1, 2),
                "fate": st.sampled_from(["ok", "definite", "error", "cancelled"]),
            }
        ),
    ),
    st.tuples(st.just("look"), st.fixed_dictionaries({"order": st.sampled_from(["A", "B"])})),
    st.tuples(st.just("turn"), st.just({})),
)
PLANS = st.lists(st.sampled_from(["ok", "ok", "ok", "fails", "fails after"]), max_size=20)


def take(run: Any, step: tuple[str, dict[str, Any]]) -> None:
    name, arguments = step
    try:
        if name == "turn":
            run.before_model()
        else:
            run.call(name, arguments)
    except (RuntimeError, NothingHappenedError, LedgerError, CancelledLike):
        pass


@settings(max_examples=80, deadline=None)
@given(st.lists(STEPS, max_size=25), PLANS, st.sampled_from([None, "look"]))
def test_no_failure_takes_a_budget_out_of_its_limits_or_gets_past_a_stop(
    steps: list[tuple[str, dict[str, Any]]], plan: list[str], reconcile: str | None
) -> None:
    till = Till()
    pay = SPECS["pay"]
    declared = {**SPECS, "pay": ToolSpec(**{**_fields(pay), "reconcile": reconcile})}
    run = Breaker(budget=LIMITS, store=FlakyLedger(plan)).run()
    run.guard({"pay": till.pay, "look": till.look}, declared)

    for step in steps:
        mode, before = run.mode, len(till.dispatched)
        take(run, step)
        if mode is Mode.STOPPED:
            assert len(till.dispatched) == before
            assert run.mode is Mode.STOPPED
        for line in run.budgets():
            assert 0 <= line.remaining <= line.limit

    assert till.changed <= 3
    assert sum(each.startswith("pay") for each in till.dispatched) <= 6


def _fields(spec: ToolSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in spec.__struct_fields__}


def guarded(ledger: MemoryLedger) -> tuple[Any, Till]:
    till = Till()
    run = Breaker(budget=LIMITS, store=ledger).run()
    run.guard({"pay": till.pay, "look": till.look}, SPECS)
    return run, till


@pytest.mark.parametrize("plan", [["fails"], ["fails after"]])
def test_a_write_that_cannot_be_written_ahead_is_not_sent(plan: list[str]) -> None:
    run, till = guarded(FlakyLedger(plan))

    with pytest.raises(LedgerError):
        run.call("pay", {"order": "A", "amount": 1})

    assert till.dispatched == []
    assert {line.name: line.spent for line in run.budgets()} == {
        "max_turns": 0,
        "max_tool_calls": 0,
        "max_side_effects": 0,
    }


@pytest.mark.parametrize(("fate", "error"), [("error", RuntimeError), ("cancelled", CancelledLike)])
def test_a_ledger_that_fails_as_well_does_not_hide_the_tools_own_error(
    fate: str, error: type[BaseException]
) -> None:
    run, till = guarded(FlakyLedger(["ok", "fails"]))

    with pytest.raises(error) as told:
        run.call("pay", {"order": "A", "amount": 1, "fate": fate})

    assert "could not be settled: LedgerError" in told.value.__notes__[0]
    assert till.changed == 1


def test_a_write_that_could_not_be_settled_is_not_sent_again() -> None:
    run, till = guarded(FlakyLedger(["ok", "fails"]))
    with pytest.raises(LedgerError):
        run.call("pay", {"order": "A", "amount": 1})

    assert run.call("pay", {"order": "A", "amount": 1})["reason"] == "unknown_side_effect"
    assert till.changed == 1
    with pytest.raises(Interrupted, match="unknown"), run:
        pass


def test_a_write_that_could_not_be_settled_is_settled_by_its_read_and_not_waited_for() -> None:
    till = Till()
    reads = msgspec.structs.replace(
        SPECS["pay"], reconcile="look", late_effect_s=0, result_id="payment_id"
    )
    run = Breaker(store=FlakyLedger(["ok", "fails"])).run()
    run.guard({"pay": till.pay, "look": till.look}, {**SPECS, "pay": reads})
    with pytest.raises(LedgerError):
        run.call("pay", {"order": "A", "amount": 1})

    again = run.call("pay", {"order": "A", "amount": 1})

    assert (again["reason"], again["result"]) == ("duplicate_write", {"payment_id": "P-1"})
    assert till.dispatched == ["pay A 1", "look A"]
    assert run.close() is None


def test_a_call_that_cannot_be_taken_back_in_the_store_is_taken_back_in_all_else() -> None:
    ledger = FlakyLedger(["ok", "fails"])
    run = Breaker(budget=RunBudget(max_calls_per_minute=1), store=ledger).run()
    till = Till()
    run.guard({"pay": till.pay, "look": till.look}, SPECS)
    call = ToolCall(call_id="c-1", tool="pay", arguments={"order": "A", "amount": 1})
    assert run.decide(call).allowed

    with pytest.raises(LedgerError):
        run.withdraw(call)

    assert run.decide(ToolCall(call_id="c-2", tool="look", arguments={"order": "A"})).allowed
    (entry,) = ledger.of_run(run.run_id)
    assert entry.status is WriteStatus.IN_FLIGHT
