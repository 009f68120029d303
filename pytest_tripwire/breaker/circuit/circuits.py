"""The circuits of one run: one for each tool, and one for the whole run.

They stand beside the run's own rules: those ask whether the run gets anywhere, these whether a tool
is up. A refusal concerns one call and passes; nothing here stops a run.
"""

from __future__ import annotations

from pytest_tripwire.breaker.circuit import messages
from pytest_tripwire.breaker.circuit.circuit import Circuit
from pytest_tripwire.breaker.circuit.policy import CircuitPolicy
from pytest_tripwire.breaker.circuit.values import (
    RUN,
    CircuitRefusal,
    CircuitsMemory,
    CircuitState,
    CircuitTicket,
    CircuitTrip,
)
from pytest_tripwire.timeline import Reason, Status

#: What speaks for a tool that is down. One that denies, or fails definitely, is up and said no.
ERRORS = frozenset({Status.TRANSIENT, Status.UNKNOWN})

MOST_BACKOFF_S = 60.0
#: From here on 2**n is more than the most; n itself may grow for ever.
_BACKOFF_CEILING = 6


class Circuits:
    """Owner of a run's circuits, used under the controller's lock.

    A proposal is looked at first (`peek`), with all else that may speak against it. Then one of
    three is said: `admit` when it runs, `reject` when what `peek` said is what was decided, `note`
    when something else refused it. An admitted call is settled or abandoned, once.

    `turn` is a number that siblings share and that only grows, from 1, as `Rounds` gives it; `now`
    is seconds on the run's clock; `call` is a fingerprint of the tool and all its arguments.

    Args:
        policy: when circuits open, and for how long.
        memory: what an earlier part of the run has left.
        now: the time at which that is taken up.
    """

    def __init__(
        self, policy: CircuitPolicy, memory: CircuitsMemory | None = None, now: float = 0.0
    ) -> None:
        before = memory or CircuitsMemory()
        self._policy = policy
        self._last_call = before.last_call
        self._identical = before.identical
        self._last_trip = before.last_trip
        known = {
            name: Circuit(policy, each, now)
            for name, each in before.circuits.items()
            if self._is_kept(name)
        }
        self._run = known.pop(RUN, Circuit(policy))
        self._tools = known

    # -- what can be seen

    @property
    def last_trip(self) -> Reason | None:
        """What opened a circuit last: `circuit_open` for a tool's errors, `identical_call` or
        `turn_budget` for the run's; None as long as none was.
        """
        return self._last_trip

    def state(self, tool: str = RUN, *, now: float) -> CircuitState:
        """How a tool's circuit stands; without a tool, that of the run."""
        circuit = self._find(tool)
        return CircuitState.CLOSED if circuit is None else circuit.state(now)

    def backoff(self, tool: str | None = None) -> float:
        """Seconds that a patient caller waits before trying again: min(2**n, 60), n being the turns
        in a row in which `tool` failed, probes among them; without a tool, the most of any.
        """
        counts = [each.errors.count for name, each in self._tools.items() if tool in (None, name)]
        return min(2.0 ** min(max(counts, default=0), _BACKOFF_CEILING), MOST_BACKOFF_S)

    def snapshot(self, now: float) -> CircuitsMemory:
        """What another process needs to go on."""
        circuits = {RUN: self._run, **self._tools}
        memories = {name: each.memory(now) for name, each in circuits.items()}
        return CircuitsMemory(
            circuits={name: each for name, each in memories.items() if each is not None},
            last_call=self._last_call,
            identical=self._identical,
            last_trip=self._last_trip,
        )

    # -- a proposal

    def peek(self, tool: str, call: str, *, turn: int, now: float) -> CircuitRefusal | None:
        """Why a proposal must not run, if it must not. Changes nothing."""
        if not self._run.lets_through(now):
            return self._is_open(RUN, tool, call, now)
        if self._run.state(now) is CircuitState.CLOSED:
            tripped = self._tripped(tool, call, turn)
            if tripped is not None:
                return tripped
        circuit = self._tools.get(tool)
        if circuit is not None and not circuit.lets_through(now):
            return self._is_open(tool, tool, call, now)
        return None

    def admit(self, tool: str, call: str, *, turn: int, now: float) -> CircuitTicket:
        """Let a call through that `peek` has nothing against. Beside a half-open circuit it is the
        probe, so this comes last, when all else is agreed; what fails after it is abandoned.
        """
        self.note(call)
        if self._policy.errors is not None:
            self._of(tool).began(turn)
        lent = [(name, self._find(name)) for name in (RUN, tool)]
        probes = [(name, each.lend(now)) for name, each in lent if each is not None]
        return CircuitTicket(
            tool=tool,
            turn=turn,
            probes=tuple((name, number) for name, number in probes if number is not None),
        )

    def reject(self, refusal: CircuitRefusal, *, now: float) -> CircuitTrip | None:
        """A call was refused by what `peek` said. Returns the trip, if that opens the circuit."""
        self.note(refusal.call)
        circuit = self._find(refusal.circuit)
        if circuit is None:
            return None
        if not refusal.opens:
            circuit.reject()
            return None
        return self._open(refusal.circuit, circuit, refusal.cause, now)

    def note(self, call: str) -> None:
        """A call was proposed, and something else than a circuit refused it. It counts as a call
        between others, and as one more of the same.
        """
        if self._policy.identical is None:
            return
        self._identical = self._identical + 1 if call == self._last_call else 1
        self._last_call = call

    # -- an admitted call

    def settle(
        self, ticket: CircuitTicket, status: Status, *, now: float, seq: int = 0
    ) -> tuple[CircuitTrip, ...]:
        """Say what came of an admitted call; `seq` is the event that says so. Returns the circuits
        that it opens, or opens again.
        """
        trips = (
            self._judge_run(ticket, status, now),
            self._judge_tool(ticket, status, now, seq),
        )
        return tuple(trip for trip in trips if trip is not None)

    def abandon(self, ticket: CircuitTicket) -> None:
        """An admitted call will have no outcome: it was taken back, or cancelled. If it was the
        probe, the next call is.
        """
        if ticket.tool in self._tools:
            self._tools[ticket.tool].ended(ticket.turn)
        for name, number in ticket.probes:
            circuit = self._find(name)
            if circuit is not None and circuit.is_probe(number):
                circuit.give_back()

    # -- judging

    def _judge_run(self, ticket: CircuitTicket, status: Status, now: float) -> CircuitTrip | None:
        """A run that went round in circles has to show a success; a tool that says no is none."""
        if not _probes(ticket, RUN, self._run):
            return None
        if status is Status.OK:
            self._close(self._run)
            return None
        return self._open(RUN, self._run, self._run.cause, now)

    def _judge_tool(
        self, ticket: CircuitTicket, status: Status, now: float, seq: int
    ) -> CircuitTrip | None:
        if self._policy.errors is None:
            return None
        circuit = self._of(ticket.tool)
        circuit.ended(ticket.turn)
        if status in ERRORS:
            return self._failed(circuit, ticket, now, seq)
        self._answered(circuit, ticket, now)
        return None

    def _failed(
        self, circuit: Circuit, ticket: CircuitTicket, now: float, seq: int
    ) -> CircuitTrip | None:
        probes = _probes(ticket, ticket.tool, circuit)
        if not probes and circuit.state(now) is not CircuitState.CLOSED:
            return None
        if circuit.errors.failed(ticket.turn) and seq:
            circuit.evidence.append(seq)
        if probes:
            return self._open(ticket.tool, circuit, Reason.CIRCUIT_OPEN, now)
        if circuit.finished(ticket.turn) >= (self._policy.errors or 0):
            return self._open(ticket.tool, circuit, Reason.CIRCUIT_OPEN, now, ticket.turn)
        return None

    def _answered(self, circuit: Circuit, ticket: CircuitTicket, now: float) -> None:
        """A tool that answers is up, whatever it says. So is one that answers another call of the
        very turn that opened the circuit: that turn was none in which all failed.
        """
        if _probes(ticket, ticket.tool, circuit):
            self._close(circuit)
        elif circuit.was_opened_in(ticket.turn):
            circuit.close()
        elif circuit.state(now) is not CircuitState.CLOSED:
            return
        circuit.errors.succeeded(ticket.turn)
        circuit.evidence.clear()

    def _open(
        self, name: str, circuit: Circuit, cause: Reason, now: float, turn: int = 0
    ) -> CircuitTrip:
        circuit.open(cause, now, turn)
        self._last_trip = cause
        return CircuitTrip(
            circuit=name,
            reason=cause,
            errors=circuit.errors.count,
            evidence=tuple(circuit.evidence),
        )

    def _close(self, circuit: Circuit) -> None:
        """The probe went well: streaks begin anew. Turns do not, they are the backstop."""
        circuit.close()
        self._last_call, self._identical = "", 0

    # -- refusing

    def _tripped(self, tool: str, call: str, turn: int) -> CircuitRefusal | None:
        turns, identical = self._policy.turns, self._policy.identical
        in_a_row = self._identical + 1 if call == self._last_call else 1
        if turns is not None and turn > turns:
            reason, message = Reason.TURN_BUDGET, messages.turns(tool, turns)
        elif identical is not None and in_a_row >= identical:
            reason, message = Reason.IDENTICAL_CALL, messages.identical(tool, in_a_row)
        else:
            return None
        return CircuitRefusal(
            circuit=RUN,
            tool=tool,
            call=call,
            reason=reason,
            cause=reason,
            opens=True,
            message=message,
        )

    def _is_open(self, name: str, tool: str, call: str, now: float) -> CircuitRefusal:
        of_run = name == RUN
        circuit = self._run if of_run else self._tools[name]
        return CircuitRefusal(
            circuit=name,
            tool=tool,
            call=call,
            reason=Reason.CIRCUIT_OPEN,
            cause=circuit.cause,
            opens=False,
            message=messages.run_open(tool, circuit.cause)
            if of_run
            else messages.tool_open(tool, circuit.errors.count),
            retry_after=circuit.wait(now) or None,
            evidence=tuple(circuit.evidence),
        )

    def _of(self, tool: str) -> Circuit:
        circuit = self._tools.get(tool)
        if circuit is None:
            circuit = self._tools[tool] = Circuit(self._policy)
        return circuit

    def _find(self, name: str) -> Circuit | None:
        return self._run if name == RUN else self._tools.get(name)

    def _is_kept(self, name: str) -> bool:
        """Whether this policy has such a circuit at all."""
        if name != RUN:
            return self._policy.errors is not None
        return self._policy.identical is not None or self._policy.turns is not None


def _probes(ticket: CircuitTicket, name: str, circuit: Circuit) -> bool:
    return any(name == each and circuit.is_probe(number) for each, number in ticket.probes)
