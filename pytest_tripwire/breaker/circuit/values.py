"""What the circuits say, and what they are told with."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from pytest_tripwire.timeline import Reason

#: Name of the circuit of the whole run; no tool can be called so.
RUN = ""


class CircuitState(StrEnum):
    """Closed lets everything through, open nothing, half open exactly one call: the probe."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a proposed call must not run. Hand it to `Circuits.reject` once that is decided.

    Args:
        circuit: the circuit that refuses: a tool's name, or `""` for the one of the whole run.
        tool: the tool that was proposed.
        call: fingerprint of the whole proposal.
        reason: `identical_call` or `turn_budget` for the proposal that trips the circuit of the
            run; `circuit_open` for whatever is refused because a circuit is open already.
        cause: what the circuit was opened by; `circuit_open` where that was errors.
        opens: whether this very proposal opens the circuit.
        message: what to tell the model.
        retry_after: seconds until a call may be tried, where a clock decides; None where rejected
            calls do.
        evidence: the events at which the errors settled that it rests on.
    """

    circuit: str
    tool: str
    call: str
    reason: Reason
    cause: Reason
    opens: bool
    message: str
    retry_after: float | None = None
    evidence: tuple[int, ...] = ()


class CircuitTrip(msgspec.Struct, frozen=True, kw_only=True):
    """A circuit has just opened, for whoever logs it: which, what by, and the errors in a row."""

    circuit: str
    reason: Reason
    errors: int
    evidence: tuple[int, ...]


class CircuitTicket(msgspec.Struct, frozen=True, kw_only=True):
    """An admitted call; it has to be settled or abandoned. `probes` says which circuits it probes,
    and under which number: one that was given up meanwhile is nobody's probe any more.
    """

    tool: str
    turn: int
    probes: tuple[tuple[str, int], ...] = ()


class CircuitMemory(msgspec.Struct, frozen=True, kw_only=True):
    """What a circuit carries to another process; not a probe, whose outcome stays behind.

    Args:
        state: as it stood; half open means armed.
        cause: what it was opened by.
        errors: failed turns in a row.
        rejected: calls rejected since it opened.
        open_s: seconds since it opened.
    """

    state: CircuitState
    cause: Reason
    errors: int
    rejected: int
    open_s: float


class CircuitsMemory(msgspec.Struct, frozen=True, kw_only=True):
    """All circuits of a run that are not as new, by name, and the identical proposals in a row."""

    circuits: dict[str, CircuitMemory] = msgspec.field(default_factory=dict)
    last_call: str = ""
    identical: int = 0
    last_trip: Reason | None = None
