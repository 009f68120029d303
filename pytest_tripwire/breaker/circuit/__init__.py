"""Circuits for tools that are down: closed, open, half open. Beside the run controller, pure."""

from pytest_tripwire.breaker.circuit.circuits import Circuits
from pytest_tripwire.breaker.circuit.policy import CircuitPolicy
from pytest_tripwire.breaker.circuit.values import (
    CircuitRefusal,
    CircuitsMemory,
    CircuitState,
    CircuitTicket,
    CircuitTrip,
)

__all__ = [
    "CircuitPolicy",
    "CircuitRefusal",
    "CircuitState",
    "CircuitTicket",
    "CircuitTrip",
    "Circuits",
    "CircuitsMemory",
]
