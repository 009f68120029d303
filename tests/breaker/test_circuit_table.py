"""The circuit row by row: what the page about it says, as a table of what is done and what follows.

A step proposes a call and, if it is let through, settles it; what is proposed then is of the next
turn. What follows is whether it `ran`, else the reason of the refusal, and how the watched circuit
stands then.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from pytest_tripwire.breaker.circuit import CircuitPolicy, Circuits
from pytest_tripwire.breaker.rounds import Rounds
from pytest_tripwire.timeline import Reason, Status

RUN = ""
STATUS = {
    "ok": Status.OK,
    "fail": Status.TRANSIENT,
    "lose": Status.UNKNOWN,
    "deny": Status.DENIED,
    "definite": Status.DEFINITE,
}
WEEKEND = CircuitPolicy.preset("weekend")
ERRORS = CircuitPolicy(errors=3, cooldown=4)
CLOCK = CircuitPolicy(errors=2, cooldown_s=30)
IDENTICAL = CircuitPolicy(identical=3, cooldown=2)
TURNS = CircuitPolicy(turns=2, cooldown=2)

OPENED = [("fail a", "ran closed")] * 2 + [("fail a", "ran open")]
COOLED = [("ok a", "circuit_open open")] * 3 + [("ok a", "circuit_open half_open")]
TRIPPED = [("ok a=", "ran closed")] * 2 + [("ok a=", "identical_call open")]

#: What it says, the policy, whose circuit is watched, and the steps.
ROWS: list[tuple[str, CircuitPolicy, str, list[tuple[str, str]]]] = [
    (
        "the circuit of a tool is on by default and opens at the fifth error in a row",
        CircuitPolicy(),
        "a",
        [("fail a", "ran closed")] * 4 + [("fail a", "ran open"), ("ok a", "circuit_open open")],
    ),
    (
        "identical calls and many turns are no matter by default",
        CircuitPolicy(),
        RUN,
        [("ok a=", "ran closed")] * 30,
    ),
    (
        "an unknown outcome is an error",
        ERRORS,
        "a",
        [("lose a", "ran closed"), ("fail a", "ran closed"), ("lose a", "ran open")],
    ),
    (
        "a success begins the row anew",
        ERRORS,
        "a",
        [*OPENED[:2], ("ok a", "ran closed"), *OPENED],
    ),
    (
        "a tool that denies is up",
        ERRORS,
        "a",
        [*OPENED[:2], ("deny a", "ran closed"), *OPENED],
    ),
    (
        "a tool that fails definitely is up",
        ERRORS,
        "a",
        [("definite a", "ran closed")] * 9 + [("deny a", "ran closed")] * 9,
    ),
    (
        "each tool has a circuit of its own",
        ERRORS,
        "b",
        [*[("fail a", "ran closed")] * 3, ("ok a", "circuit_open closed"), ("ok b", "ran closed")],
    ),
    (
        "errors of another tool do not add up",
        ERRORS,
        "a",
        [("fail a", "ran closed"), ("fail b", "ran closed")] * 2,
    ),
    (
        "the call that completes the cooldown is itself rejected and arms the probe",
        ERRORS,
        "a",
        [*OPENED, *COOLED],
    ),
    (
        "a probe that succeeds closes the circuit and the row begins anew",
        ERRORS,
        "a",
        [*OPENED, *COOLED, ("ok a", "ran closed"), *OPENED],
    ),
    (
        "a probe that is answered with a no closes the circuit too",
        ERRORS,
        "a",
        [*OPENED, *COOLED, ("definite a", "ran closed"), *OPENED],
    ),
    (
        "a probe that fails opens the circuit again for the full cooldown",
        ERRORS,
        "a",
        [*OPENED, *COOLED, ("fail a", "ran open"), *COOLED, ("lose a", "ran open"), *COOLED],
    ),
    (
        "with a clock it is time that counts, and the first call after it is the probe",
        CLOCK,
        "a",
        [
            ("fail a", "ran closed"),
            ("fail a", "ran open"),
            *[("ok a", "circuit_open open")] * 9,
            ("wait 29", "open"),
            ("ok a", "circuit_open open"),
            ("wait 1", "half_open"),
            ("fail a", "ran open"),
            ("wait 29.5", "open"),
            ("ok a", "circuit_open open"),
            ("wait 0.5", "half_open"),
            ("ok a", "ran closed"),
        ],
    ),
    (
        "the third identical proposal in a row is refused and opens the circuit of the run",
        IDENTICAL,
        RUN,
        [*TRIPPED, ("ok a=", "circuit_open open"), ("ok a=", "circuit_open half_open")],
    ),
    (
        "while it is open every tool is refused",
        IDENTICAL,
        RUN,
        [*TRIPPED, ("ok b", "circuit_open open")],
    ),
    (
        "another call between resets the row",
        IDENTICAL,
        RUN,
        [*TRIPPED[:2], ("ok b", "ran closed")] * 9,
    ),
    (
        "the same tool with other arguments is another call",
        IDENTICAL,
        RUN,
        [("ok a", "ran closed")] * 9,
    ),
    (
        "the very call that tripped it may be the probe, and its success zeroes the row",
        IDENTICAL,
        RUN,
        [
            *TRIPPED,
            ("ok a=", "circuit_open open"),
            ("ok a=", "circuit_open half_open"),
            ("ok a=", "ran closed"),
            *TRIPPED,
        ],
    ),
    (
        "a no is no success for a run that went round in circles",
        IDENTICAL,
        RUN,
        [
            *TRIPPED,
            ("ok a", "circuit_open open"),
            ("ok a", "circuit_open half_open"),
            ("definite a", "ran open"),
            ("ok a", "circuit_open open"),
            ("ok a", "circuit_open half_open"),
            ("fail a", "ran open"),
        ],
    ),
    (
        "a call past the turn cap is refused and opens the circuit of the run",
        TURNS,
        RUN,
        [("ok a", "ran closed")] * 2
        + [("ok b", "turn_budget open"), ("ok a", "circuit_open open")],
    ),
    (
        "a probe zeroes no turns, so the cap trips again at once",
        TURNS,
        RUN,
        [
            *[("ok a", "ran closed")] * 2,
            *[("ok a", "turn_budget open"), ("ok a", "circuit_open open")],
            *[("ok a", "circuit_open half_open"), ("ok a", "ran closed")],
            *[("ok a", "turn_budget open"), ("ok a", "circuit_open open")],
        ],
    ),
    (
        "weekend: three errors, then a cooldown of four",
        WEEKEND,
        "a",
        [*OPENED, *COOLED, ("ok a", "ran closed")],
    ),
    (
        "weekend: three identical, then a cooldown of four",
        WEEKEND,
        RUN,
        [*TRIPPED, *COOLED, ("ok a=", "ran closed"), ("ok a=", "ran closed")],
    ),
    (
        "weekend: eight turns",
        WEEKEND,
        RUN,
        [("ok a", "ran closed")] * 8 + [("ok a", "turn_budget open")],
    ),
    (
        "nothing ever opens when it is off",
        CircuitPolicy.preset("off"),
        "a",
        [("fail a=", "ran closed")] * 30,
    ),
]


class Table:
    """Carries out steps. `a=` is always the same call, `a` never."""

    def __init__(self, policy: CircuitPolicy) -> None:
        self.circuits = Circuits(policy)
        self.rounds = Rounds()
        self.numbers = itertools.count(1)
        self.now = 0.0

    def step(self, what: str) -> list[str]:
        kind, _, target = what.partition(" ")
        if kind == "wait":
            self.now += float(target)
            return []
        turn, tool = self.rounds.of_call(0), target.rstrip("=")
        call = target if target.endswith("=") else f"{target}{next(self.numbers)}"
        refusal = self.circuits.peek(tool, call, turn=turn, now=self.now)
        if refusal is not None:
            self.circuits.reject(refusal, now=self.now)
            return [refusal.reason]
        ticket = self.circuits.admit(tool, call, turn=turn, now=self.now)
        self.circuits.settle(ticket, STATUS[kind], now=self.now)
        self.rounds.came_back()
        return ["ran"]


@pytest.mark.parametrize(
    ("policy", "watched", "steps"),
    [row[1:] for row in ROWS],
    ids=[row[0].replace(" ", "-") for row in ROWS],
)
def test_row(policy: CircuitPolicy, watched: str, steps: list[tuple[str, str]]) -> None:
    table = Table(policy)
    seen: list[tuple[str, str]] = []

    for what, _ in steps:
        told = table.step(what)
        seen.append((what, " ".join([*told, table.circuits.state(watched, now=table.now)])))

    assert seen == steps


def test_the_table_uses_every_reason_that_a_circuit_has() -> None:
    told: set[Any] = {what.partition(" ")[0] for row in ROWS for _, what in row[3]}

    assert told >= {Reason.CIRCUIT_OPEN, Reason.IDENTICAL_CALL, Reason.TURN_BUDGET}
