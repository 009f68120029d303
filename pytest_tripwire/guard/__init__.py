"""Wraps callables, sync and async, so that a breaker decides before they run."""

from pytest_tripwire.guard.breaker import Breaker
from pytest_tripwire.guard.calling import Staged
from pytest_tripwire.guard.errors import Interrupted, UndeclaredToolError
from pytest_tripwire.guard.run import BreakerRun

__all__ = ["Breaker", "BreakerRun", "Interrupted", "Staged", "UndeclaredToolError"]
