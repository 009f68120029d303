"""Wraps callables, sync and async, so that a breaker decides before they run."""

from pytest_tripwire.guard.breaker import Breaker
from pytest_tripwire.guard.calling import Staged
from pytest_tripwire.guard.ending import State, Terminal
from pytest_tripwire.guard.errors import ChildRefusedError, Interrupted, UndeclaredToolError
from pytest_tripwire.guard.resume import Resume, ResumeRefusedError
from pytest_tripwire.guard.run import BreakerRun

__all__ = [
    "Breaker",
    "BreakerRun",
    "ChildRefusedError",
    "Interrupted",
    "Resume",
    "ResumeRefusedError",
    "Staged",
    "State",
    "Terminal",
    "UndeclaredToolError",
]
