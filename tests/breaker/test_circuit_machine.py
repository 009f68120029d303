"""The circuits against a plain model of them, with calls side by side in any order."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pytest_tripwire.breaker.circuit import CircuitPolicy, Circuits, CircuitTicket
from pytest_tripwire.timeline import Status

ERRORS, IDENTICAL, COOLDOWN, TURNS = 2, 3, 2, 12
POLICY = CircuitPolicy(errors=ERRORS, identical=IDENTICAL, cooldown=COOLDOWN, turns=TURNS)
TOOLS = st.sampled_from(["a", "b"])
CALLS = st.sampled_from(["1", "2"])
RUN = ""


class PlainCircuit:
    """Closed, or so many rejected calls (`waits`) away from the probe; at 0 it is armed."""

    def __init__(self) -> None:
        self.waits: int | None = None
        self.probe: Any = None
        self.opened_in = 0
        self.failed_turns: list[int] = []
        self.last_turn = 0
        self.under_way: list[int] = []

    @property
    def state(self) -> str:
        if self.waits is None:
            return "closed"
        return "open" if self.waits else "half_open"

    def open(self, turn: int = 0) -> None:
        self.waits, self.probe, self.opened_in = COOLDOWN, None, turn

    def close(self) -> None:
        self.waits, self.probe = None, None


class PlainCircuits:
    """The rules, one after another, as a person would say them."""

    def __init__(self) -> None:
        self.of: defaultdict[str, PlainCircuit] = defaultdict(PlainCircuit)
        self.proposed: list[str] = []

    def refuses(self, tool: str, call: str, turn: int) -> str:
        """Carry out a proposal's refusal; the reason, empty if there is none."""
        self.proposed.append(call)
        run = self.of[RUN]
        if run.state == "closed":
            if turn > TURNS:
                run.open()
                return "turn_budget"
            if self.proposed[-IDENTICAL:] == [call] * IDENTICAL:
                run.open()
                return "identical_call"
        for each in (run, self.of[tool]):
            if each.state == "open":
                assert each.waits is not None
                each.waits -= 1
                return "circuit_open"
            if each.state == "half_open" and each.probe is not None:
                return "circuit_open"
        return ""

    def begin(self, tool: str, turn: int, ticket: Any) -> None:
        self.of[tool].under_way.append(turn)
        for name in (RUN, tool):
            if self.of[name].state == "half_open":
                self.of[name].probe = ticket

    def end(self, tool: str, turn: int, ticket: Any, status: Status) -> None:
        run = self.of[RUN]
        if run.probe is ticket:
            if status is Status.OK:
                run.close()
                self.proposed.append("a success lies between")
            else:
                run.open()
        failed = status in {Status.TRANSIENT, Status.UNKNOWN}
        self.end_of_tool(self.of[tool], turn, ticket, failed=failed)

    def end_of_tool(self, tool: PlainCircuit, turn: int, ticket: Any, *, failed: bool) -> None:
        tool.under_way.remove(turn)
        probes = tool.probe is ticket
        sibling = tool.state == "open" and tool.opened_in == turn
        if tool.state != "closed" and not probes and (failed or not sibling):
            return
        if not failed:
            if probes:
                self.proposed.append("a success lies between")
            tool.close()
            tool.failed_turns = []
            tool.last_turn = max(tool.last_turn, turn)
            return
        if turn > tool.last_turn:
            tool.failed_turns.append(turn)
            tool.last_turn = turn
        if probes:
            tool.open()
        elif len(tool.failed_turns) - (turn in tool.under_way) >= ERRORS:
            tool.open(turn)


class CircuitMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.circuits = Circuits(POLICY)
        self.model = PlainCircuits()
        self.turn = 1
        self.under_way: list[CircuitTicket] = []

    @rule(tool=TOOLS, argument=CALLS)
    def propose(self, tool: str, argument: str) -> None:
        call = tool + argument
        looked = [self.circuits.peek(tool, call, turn=self.turn, now=0) for _ in range(2)]
        assert looked[0] == looked[1]
        expected = self.model.refuses(tool, call, self.turn)
        refusal = looked[0]
        assert ("" if refusal is None else refusal.reason) == expected
        if refusal is not None:
            self.circuits.reject(refusal, now=0)
            return
        ticket = self.circuits.admit(tool, call, turn=self.turn, now=0)
        self.model.begin(tool, self.turn, ticket)
        self.under_way.append(ticket)

    @rule(argument=CALLS)
    def refused_by_something_else(self, argument: str) -> None:
        self.circuits.note("a" + argument)
        self.model.proposed.append("a" + argument)

    @precondition(lambda self: self.under_way)
    @rule(which=st.integers(0, 9), status=st.sampled_from(list(Status)))
    def settle(self, which: int, status: Status) -> None:
        ticket = self.under_way.pop(which % len(self.under_way))
        before = self.model.of[RUN].state, self.model.of[ticket.tool].state
        trips = self.circuits.settle(ticket, status, now=0)
        self.model.end(ticket.tool, ticket.turn, ticket, status)
        after = self.model.of[RUN].state, self.model.of[ticket.tool].state
        opened = [
            was != "open" and is_now == "open" for was, is_now in zip(before, after, strict=True)
        ]
        assert [trip.circuit for trip in trips] == [
            name for name, new in zip((RUN, ticket.tool), opened, strict=True) if new
        ]

    @precondition(lambda self: self.under_way)
    @rule(which=st.integers(0, 9))
    def cancel(self, which: int) -> None:
        ticket = self.under_way.pop(which % len(self.under_way))
        self.circuits.abandon(ticket)
        self.model.of[ticket.tool].under_way.remove(ticket.turn)
        for circuit in self.model.of.values():
            if circuit.probe is ticket:
                circuit.probe = None

    @rule()
    def next_turn(self) -> None:
        self.turn += 1

    @invariant()
    def states_are_right(self) -> None:
        for name in (RUN, "a", "b"):
            assert self.circuits.state(name, now=0) == self.model.of[name].state

    @invariant()
    def one_probe_of_each_circuit_at_most_is_under_way(self) -> None:
        for name in (RUN, "a", "b"):
            probes = [each for each in self.under_way if name in dict(each.probes)]
            live = [each for each in probes if self.model.of[name].probe is each]
            assert len(live) <= 1

    @invariant()
    def backoff_is_right(self) -> None:
        for tool in ("a", "b"):
            errors = len(self.model.of[tool].failed_turns)
            assert self.circuits.backoff(tool) == min(2**errors, 60)

    def teardown(self) -> None:
        """However it stands, it is not wedged: when all comes back well, calls run again."""
        while self.under_way:
            self.settle(0, Status.OK)
        for tool in ("a", "b"):
            for number in range(4 * COOLDOWN + 4):
                self.propose(tool, f"new {number}")
                while self.under_way:
                    self.settle(0, Status.OK)
            if self.turn <= TURNS:
                assert self.circuits.state(tool, now=0) == "closed"


TestCircuitMachine = CircuitMachine.TestCase
TestCircuitMachine.settings = settings(max_examples=120, stateful_step_count=50, deadline=None)
