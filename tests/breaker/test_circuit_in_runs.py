"""Circuits as a run uses them: by default, as a preset, beside the other rules, and cancelled."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from pytest_tripwire.breaker import (
    Breaker,
    CircuitPolicy,
    Effect,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
)
from pytest_tripwire.timeline import CircuitOpened, Timeline

SPECS = {
    "look": ToolSpec(name="look", effect=Effect.READ),
    "pay": ToolSpec(name="pay", effect=Effect.WRITE, identity=("order",), reconcile="status_of"),
    "status_of": ToolSpec(name="status_of", effect=Effect.READ),
}


class Service:
    """One run over a tool that is up or down."""

    def __init__(self, **options: Any) -> None:
        self.timeline = Timeline(lambda: 0.0)
        self.asked: list[str] = []
        self.down = False
        self.run: Any = Breaker(specs=SPECS, **options).run(timeline=self.timeline)
        self.run.guard({"look": self.look, "pay": self.pay, "status_of": self.status_of})

    def look(self, order: str) -> dict[str, Any]:
        """What it gives is always new, so that no rule about progress has a say."""
        self.asked.append(order)
        if self.down:
            raise ConnectionError(order)
        return {"found": order, "number": len(self.asked)}

    def pay(self, order: str) -> str:
        raise TimeoutError(order)

    def status_of(self, order: str) -> str:
        self.asked.append(order)
        raise ConnectionError(order)

    def call(self, order: str) -> str:
        """Look; returns the result, why not, or what was raised."""
        try:
            told = self.run.call("look", {"order": order})
        except ConnectionError as error:
            return type(error).__name__
        return str(told.get("reason") or told["found"])

    def calls(self, *orders: str) -> list[str]:
        return [self.call(order) for order in orders]


# -- by default, and not


def test_five_errors_in_a_row_open_the_circuit_of_a_tool_by_default() -> None:
    service = Service(budget=RunBudget(max_consecutive_errors=100))
    service.down = True

    told = service.calls(*"ABCDEF")

    assert told == ["ConnectionError"] * 5 + ["circuit_open"]
    assert service.asked == list("ABCDE")
    assert service.run.last_reason is Reason.CIRCUIT_OPEN
    assert service.run.mode is Mode.OPEN


def test_the_cooldown_lets_one_probe_through_and_its_success_closes() -> None:
    service = Service(circuit=CircuitPolicy(errors=2, cooldown=3))
    service.down = True
    assert service.calls("A", "B") == ["ConnectionError"] * 2
    assert service.calls("C", "D", "E") == ["circuit_open"] * 3
    service.down = False

    assert service.calls("F", "G") == ["F", "G"]
    assert service.asked == list("ABFG")


def test_a_run_without_circuits_has_none() -> None:
    service = Service(circuit=None, budget=RunBudget(max_consecutive_errors=100))
    service.down = True

    assert service.calls(*"ABCDEFGH") == ["ConnectionError"] * 8


def test_a_preset_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ValueError, match=r"'weekent'.*Did you mean 'weekend'"):
        Breaker(circuit="weekent")


# -- the preset of the whole run


def test_the_third_identical_call_in_a_row_is_refused() -> None:
    service = Service(circuit="weekend")

    assert service.calls(*"AABAA") == list("AABAA")
    assert service.call("A") == "identical_call"
    assert service.calls("B", "C", "D", "E") == ["circuit_open"] * 4
    assert service.call("F") == "F"
    assert service.run.last_reason is Reason.IDENTICAL_CALL


def test_the_ninth_turn_is_refused_and_success_does_not_give_turns_back() -> None:
    service = Service(circuit="weekend")
    told = []
    for turn in range(14):
        assert service.run.before_model().allowed
        told.append(service.call(f"{turn}"))

    assert told[:8] == [f"{turn}" for turn in range(8)]
    assert told[8] == "turn_budget"
    assert told[9:13] == ["circuit_open"] * 4
    assert told[13] == "13"
    service.run.before_model()
    assert service.call("14") == "turn_budget"


def test_three_errors_are_enough_for_the_preset() -> None:
    service = Service(circuit="weekend")
    service.down = True

    assert service.calls(*"ABCD") == ["ConnectionError"] * 3 + ["circuit_open"]


# -- telling


def test_a_trip_is_told_in_the_timeline_and_once_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    service = Service(circuit=CircuitPolicy(errors=2))
    service.down = True
    with caplog.at_level(logging.WARNING, "pytest_tripwire.breaker"):
        service.calls(*"ABCD")

    (opened,) = service.timeline.of(CircuitOpened)
    assert (opened.circuit, opened.reason, opened.errors) == ("look", Reason.CIRCUIT_OPEN, 2)
    assert opened.evidence == (2, 4)
    assert caplog.messages == [
        f"run {service.run.run_id}: circuit of look open for circuit_open (events 2, 4)"
    ]


def test_a_refused_proposal_that_trips_the_run_is_told_too() -> None:
    service = Service(circuit="weekend")
    service.calls("A", "A", "A")

    (opened,) = service.timeline.of(CircuitOpened)
    assert (opened.circuit, opened.reason) == ("", Reason.IDENTICAL_CALL)


def test_backoff_grows_with_the_errors_of_a_tool() -> None:
    service = Service(circuit=CircuitPolicy(errors=20), budget=RunBudget(max_consecutive_errors=99))
    assert service.run.backoff() == 1
    service.down = True
    waits = []
    for number in range(8):
        service.call(f"{number}")
        waits.append(service.run.backoff("look"))

    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]
    assert service.run.backoff() == 60
    assert service.run.backoff("pay") == 1


# -- beside other rules


def test_what_else_refuses_a_call_goes_before_the_circuit() -> None:
    service = Service(circuit=CircuitPolicy(errors=1, cooldown=9))
    service.down = True
    service.call("A")

    assert service.run.call("look", {"nothing": 1})["reason"] == "invalid_arguments"
    assert service.call("B") == "circuit_open"


def test_a_refused_call_of_a_tool_that_is_down_takes_nothing() -> None:
    service = Service(
        circuit=CircuitPolicy(errors=1, cooldown=9),
        budget=RunBudget(max_tool_calls=9, max_calls_per_minute=9),
    )
    service.down = True
    service.calls(*"ABCDE")

    assert [line.spent for line in service.run.budgets()] == [1]
    assert service.run.stats().calls == 1


def test_the_read_that_settles_a_write_gets_past_an_open_circuit() -> None:
    service = Service(circuit=CircuitPolicy(errors=1, cooldown=99))
    with pytest.raises(TimeoutError):
        service.run.call("pay", {"order": "A"})
    with pytest.raises(ConnectionError):
        service.run.call("status_of", {"order": "B"})
    assert service.run.call("status_of", {"order": "B"})["reason"] == "circuit_open"
    service.run.call("pay", {"order": "A"})
    assert service.run.mode is Mode.READ_ONLY

    with pytest.raises(ConnectionError):
        service.run.call("status_of", {"order": "A"})


def test_a_definite_answer_of_a_tool_is_no_sign_that_it_is_down() -> None:
    run = Breaker(circuit=CircuitPolicy(errors=2), default_effect="read").run()

    def look(order: str) -> str:
        raise LookupError(f"order {order} not found")

    (tool,) = run.guard([look])
    for order in "ABCD":
        with pytest.raises(LookupError):
            tool(order)

    assert run.backoff("look") == 1
    assert run.last_reason is None


def test_the_probe_that_the_launch_takes_back_is_nobodys_probe() -> None:
    """A call that is let through and then not made leaves the probe to the next."""
    run = Breaker(specs=SPECS, circuit=CircuitPolicy(errors=1, cooldown=1)).run()

    def call(number: int) -> ToolCall:
        return ToolCall(call_id=f"{number}", tool="look", arguments={"order": f"{number}"})

    assert run.decide(call(1)).allowed
    run.settle(call(1), Outcome(status=Status.TRANSIENT, error="down"))
    assert not run.decide(call(2)).allowed
    assert run.decide(call(3)).allowed
    assert not run.decide(call(4)).allowed

    run.withdraw(call(3))

    assert run.decide(call(5)).allowed


# -- cancellation


def test_a_cancelled_call_says_nothing_about_its_tool() -> None:
    service = Service(circuit=CircuitPolicy(errors=1))

    async def slow(order: str) -> str:
        await asyncio.sleep(60)
        return order

    service.run.guard({"look": slow})

    async def cancelled(order: str) -> None:
        task = asyncio.create_task(service.run.acall("look", {"order": order}))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def work() -> None:
        for order in "ABCD":
            await cancelled(order)

    asyncio.run(work())

    assert service.run.backoff("look") == 1
    assert service.run.mode is Mode.OPEN
    assert service.run.stats().calls == 4
    assert service.run.close() is None


def test_a_tool_that_hangs_and_is_cancelled_again_and_again_gets_nobody_anywhere() -> None:
    service = Service()

    async def hangs(order: str) -> None:
        del order
        await asyncio.sleep(60)

    service.run.guard({"look": hangs})

    async def work() -> None:
        for number in range(5):
            assert service.run.mode is Mode.OPEN
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0):
                    await service.run.acall("look", {"order": f"{number}"})

    asyncio.run(work())

    assert service.run.last_reason is Reason.ERROR_STREAK


def test_a_cancelled_probe_leaves_the_probe_to_the_next_call() -> None:
    service = Service(circuit=CircuitPolicy(errors=1, cooldown=1))
    service.down = True
    service.calls("A", "B")
    waits = asyncio.Event()

    async def slow(order: str) -> str:
        service.asked.append(order)
        await waits.wait()
        return order

    service.run.guard({"look": slow})

    async def work() -> Any:
        probe = asyncio.create_task(service.run.acall("look", {"order": "C"}))
        await asyncio.sleep(0)
        beside = await service.run.acall("look", {"order": "D"})
        probe.cancel()
        await asyncio.wait([probe])
        waits.set()
        return beside["reason"], await service.run.acall("look", {"order": "E"})

    assert asyncio.run(work()) == ("circuit_open", "E")
