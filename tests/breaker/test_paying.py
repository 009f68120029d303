"""What a call has cost is booked when it comes back: promises are turned into what was used, and
nothing stays promised.
"""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import RunBudget, RunContext
from pytest_tripwire.breaker.acting import Acting
from pytest_tripwire.breaker.admissions import Admitted
from pytest_tripwire.breaker.assembly import Parts, assembled
from pytest_tripwire.breaker.budget import Dimension
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.breaker.modes import Modes
from pytest_tripwire.breaker.port import allow_everything
from pytest_tripwire.breaker.writes import Writes
from pytest_tripwire.ledger import MemoryLedger
from pytest_tripwire.timeline import Status

from .driver import Clock, ToolCall, ToolSpec, read, write

LOOK, PAY = read("look"), write("pay", identity=("number",))
DEAR = read("search", cost=Decimal(2))


class Till:
    """A run at the place where calls are let through and paid for."""

    def __init__(self, **limits: Any) -> None:
        numbers = itertools.count(1)
        self.core = assembled(
            Parts(
                context=RunContext(run_id="run"),
                specs={each.name: each for each in (LOOK, PAY, DEAR)},
                budget=RunBudget(**limits),
                policy=allow_everything,
                ledger=MemoryLedger(),
                clock=Clock(),
                new_key=lambda: f"key-{next(numbers)}",
            )
        )
        modes = Modes(self.core)
        self.acting = Acting(self.core, modes, Writes(self.core, modes))
        self._numbers = itertools.count(1)

    def admitted(self, spec: ToolSpec) -> Admitted:
        """Let a call through."""
        number = next(self._numbers)
        call = ToolCall(call_id=f"c{number}", tool=spec.name, arguments={"number": number})
        intent = intent_of(call, spec, "")
        assert self.acting.admit(Proposal(call=call, spec=spec, intent=intent)) is None
        return self.core.state.admissions.take(call)

    def pays(self, admitted: Admitted, cost: Any = None, *, nothing_happened: bool = False) -> None:
        price = None if cost is None else Decimal(cost)
        status = Status.DEFINITE if nothing_happened else Status.OK
        self.acting.pay(admitted, cost=price, status=status)

    @property
    def used(self) -> dict[str, Decimal]:
        """What is spent or promised, without what nothing was used of."""
        amounts = {each: self.core.accounts.used(each) for each in Dimension}
        return {each.name.lower(): amount for each, amount in amounts.items() if amount}


@pytest.mark.parametrize("cost", ["0.5", "2", "7.25"])
def test_what_was_promised_for_a_tool_makes_way_for_what_it_has_cost(cost: str) -> None:
    till = Till(max_model_cost_usd=Decimal(10))
    admitted = till.admitted(DEAR)
    assert till.used == {"model_cost": 2, "tool_calls": 1}

    till.pays(admitted, cost)

    assert till.used == {"model_cost": Decimal(cost), "tool_calls": 1}


def test_a_tool_that_turns_out_to_cost_something_is_paid_though_nothing_was_promised() -> None:
    till = Till()

    till.pays(till.admitted(LOOK), "0.3")
    till.pays(till.admitted(PAY), "0.4")

    assert till.used == {"model_cost": Decimal("0.7"), "tool_calls": 2, "side_effects": 1}


@pytest.mark.parametrize("cost", [None, "0"])
def test_what_costs_nothing_gives_back_what_was_promised(cost: str | None) -> None:
    till = Till(max_model_cost_usd=Decimal(2))

    till.pays(till.admitted(DEAR), cost)

    assert till.used == {"tool_calls": 1}
    till.admitted(DEAR)


def test_a_call_that_did_nothing_frees_its_slot_and_costs_all_the_same() -> None:
    till = Till(max_side_effects=1)

    till.pays(till.admitted(PAY), "0.5", nothing_happened=True)

    assert till.used == {"model_cost": Decimal("0.5"), "tool_calls": 1}
    till.admitted(PAY)


def test_a_call_that_may_have_done_something_keeps_its_slot() -> None:
    till = Till(max_side_effects=1)

    till.pays(till.admitted(PAY))

    assert till.used == {"tool_calls": 1, "side_effects": 1}


def test_more_than_there_was_is_booked_as_it_is() -> None:
    till = Till(max_model_cost_usd=Decimal(3))

    till.pays(till.admitted(DEAR), "5")

    assert till.used["model_cost"] == 5
    (line,) = till.core.accounts.lines()
    assert (line.spent, line.remaining) == (5, 0)


def test_a_read_that_settles_a_write_takes_no_slot_and_costs_what_it_costs() -> None:
    till = Till()
    admitted = till.admitted(LOOK)
    till.acting.release(admitted)
    admitted.needs = {}

    till.pays(admitted, "0.2")

    assert till.used == {"model_cost": Decimal("0.2")}


CALLS = st.lists(
    st.tuples(
        st.sampled_from([LOOK, PAY, DEAR]),
        st.none() | st.decimals(0, 9, places=2),
        st.booleans(),
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(CALLS, st.randoms(use_true_random=False))
def test_in_whatever_order_calls_come_back_all_is_booked_once_and_nothing_stays_promised(
    calls: list[tuple[ToolSpec, Decimal | None, bool]], shuffled: Any
) -> None:
    till = Till()
    under_way = [(till.admitted(spec), cost, nothing) for spec, cost, nothing in calls]
    shuffled.shuffle(under_way)

    for admitted, cost, nothing in under_way:
        till.pays(admitted, cost, nothing_happened=nothing)

    expected = {
        "model_cost": sum(cost for _, cost, _ in calls if cost),
        "tool_calls": len(calls),
        "side_effects": sum(spec is PAY and not nothing for spec, _, nothing in calls),
    }
    assert till.used == {name: amount for name, amount in expected.items() if amount}
