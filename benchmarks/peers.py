"""Other breakers, where they are installed: `python -m pip install -r requirements/benchmarks.txt`.

Each is set up as its own documentation begins, in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Guard = Callable[[Callable[..., Any]], Callable[..., Any]]


def purgatory() -> Guard:
    """A circuit breaker that counts failures. Raises ImportError where it is not installed."""
    from purgatory import SyncCircuitBreakerFactory

    guard: Guard = SyncCircuitBreakerFactory()("tools")
    return guard


def purgatory_async() -> Guard:
    """The same for async tools."""
    from purgatory import AsyncCircuitBreakerFactory

    guard: Guard = AsyncCircuitBreakerFactory()("tools")
    return guard


def aura_guard() -> Guard:
    """A guard of an agent's tool calls. Raises ImportError where it is not installed."""
    from aura_guard import AgentGuard

    guard: Guard = AgentGuard(secret_key=b"benchmark").protect
    return guard
