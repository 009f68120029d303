"""One circuit: closed, open, half open. It knows nothing of what it is the circuit of."""

from __future__ import annotations

from collections import deque

from pytest_tripwire.breaker.circuit.policy import CircuitPolicy
from pytest_tripwire.breaker.circuit.values import CircuitMemory, CircuitState
from pytest_tripwire.breaker.error_turns import ErrorTurns
from pytest_tripwire.breaker.wait import seconds_until
from pytest_tripwire.timeline import Reason

#: Events that a refusal names at most, the latest.
MOST_EVIDENCE = 8


class Circuit:
    """State of one circuit, used under the owner's lock. `now` is seconds on the run's clock.

    A probe is known by its number, so that the outcome of a call from before the circuit opened, or
    of a probe that was given up, decides nothing.
    """

    __slots__ = (
        "_lent_at",
        "_numbers",
        "_opened_at",
        "_opened_in",
        "_policy",
        "_probe",
        "_state",
        "_under_way",
        "cause",
        "errors",
        "evidence",
        "rejected",
    )

    def __init__(
        self, policy: CircuitPolicy, memory: CircuitMemory | None = None, now: float = 0.0
    ) -> None:
        self._policy = policy
        self._state = memory.state if memory else CircuitState.CLOSED
        self._opened_at = now - memory.open_s if memory else now
        self._opened_in = 0
        self._numbers = 0
        self._probe: int | None = None
        self._lent_at = now
        self._under_way: dict[int, int] = {}
        self.cause = memory.cause if memory else Reason.CIRCUIT_OPEN
        self.errors = ErrorTurns(memory.errors if memory else 0)
        self.evidence: deque[int] = deque(maxlen=MOST_EVIDENCE)
        self.rejected = memory.rejected if memory else 0

    def state(self, now: float) -> CircuitState:
        """How it stands now. With a clock, time alone makes an open circuit half open."""
        if self._state is CircuitState.OPEN and self.wait(now) == 0:
            return CircuitState.HALF_OPEN
        return self._state

    def wait(self, now: float) -> float | None:
        """Seconds that it stays open yet; None where rejected calls are counted instead."""
        if self._policy.cooldown_s is None:
            return None
        if self._state is not CircuitState.OPEN:
            return 0.0
        return seconds_until(self._opened_at + self._policy.cooldown_s, now)

    def lets_through(self, now: float) -> bool:
        """Whether a call may run: any while closed, one that becomes the probe while half open."""
        state = self.state(now)
        if state is CircuitState.HALF_OPEN:
            return self._probe is None or now >= self._lent_at + self._policy.probe_lease_s
        return state is CircuitState.CLOSED

    def lend(self, now: float) -> int | None:
        """Let a call through. Returns its number if it is the probe, None if it is none."""
        if self.state(now) is CircuitState.CLOSED:
            return None
        self._state = CircuitState.HALF_OPEN
        self._numbers += 1
        self._probe, self._lent_at = self._numbers, now
        return self._probe

    def began(self, turn: int) -> None:
        """A call of `turn` is under way."""
        self._under_way[turn] = self._under_way.get(turn, 0) + 1

    def ended(self, turn: int) -> None:
        """A call of `turn` is no longer under way, whatever came of it."""
        left = self._under_way.pop(turn, 0) - 1
        if left > 0:
            self._under_way[turn] = left

    def finished(self, turn: int) -> int:
        """Failed turns in a row, `turn` among them only once all its calls are back: one of them
        may be answered. Turns before it are not waited for, as a call may never come back.
        """
        return self.errors.count - (turn in self._under_way)

    def is_probe(self, number: int) -> bool:
        """Whether `number` is that of the probe under way."""
        return self._probe == number

    def give_back(self) -> None:
        """The probe has no outcome: the next call is the probe."""
        self._probe = None

    def open(self, cause: Reason, now: float, turn: int = 0) -> None:
        """Open it for the full cooldown. `turn` is that of the errors that open it."""
        self._state = CircuitState.OPEN
        self.cause = cause
        self.rejected = 0
        self._probe = None
        self._opened_at, self._opened_in = now, turn

    def close(self) -> None:
        """Close it. Its errors are the owner's to forget."""
        self._state = CircuitState.CLOSED
        self._probe = None

    def reject(self) -> None:
        """A call was rejected; the one that completes the cooldown arms the probe."""
        if self._state is not CircuitState.OPEN or self._policy.cooldown_s is not None:
            return
        self.rejected += 1
        if self.rejected >= self._policy.cooldown:
            self._state = CircuitState.HALF_OPEN

    def was_opened_in(self, turn: int) -> bool:
        """Whether it is open for errors of this very turn."""
        return self._state is CircuitState.OPEN and self._opened_in == turn

    def memory(self, now: float) -> CircuitMemory | None:
        """What it carries to another process; None when it is as new."""
        if self._state is CircuitState.CLOSED and not self.errors.count:
            return None
        return CircuitMemory(
            state=self.state(now),
            cause=self.cause,
            errors=self.errors.count,
            rejected=self.rejected,
            open_s=max(0.0, now - self._opened_at),
        )
