"""The breaker, usable in production: it imports nothing of pytest.

`Breaker` itself is assembled one layer up, where callables are wrapped; this module hands it out,
so that a user finds everything about the breaker in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_tripwire.breaker.budget import Dimension, RunBudget, Usage
from pytest_tripwire.breaker.circuit import CircuitPolicy
from pytest_tripwire.breaker.classes import WorkflowClass
from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.declare import tool_spec
from pytest_tripwire.breaker.memory import StateError
from pytest_tripwire.breaker.port import Clock, Conflict, Denial, Ledger, Policy
from pytest_tripwire.breaker.prices import FirstKnown, GenaiPrices, Prices, PriceTable, Rate
from pytest_tripwire.breaker.reconcile import Reconcile
from pytest_tripwire.breaker.shadow import WouldHave
from pytest_tripwire.breaker.state import RunContext
from pytest_tripwire.breaker.tally import RunStats
from pytest_tripwire.breaker.tasks import Attempt
from pytest_tripwire.breaker.telling import Observer
from pytest_tripwire.timeline import (
    BreakerEvent,
    Decision,
    Effect,
    InterruptionRecord,
    Mode,
    Outcome,
    Reason,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
)

if TYPE_CHECKING:
    from pytest_tripwire.guard import (
        Breaker,
        BreakerRun,
        ChildRefusedError,
        Interrupted,
        Resume,
        ResumeRefusedError,
        Terminal,
    )

_FROM_GUARD = frozenset(
    {
        "Breaker",
        "BreakerRun",
        "ChildRefusedError",
        "Interrupted",
        "Resume",
        "ResumeRefusedError",
        "Terminal",
    }
)

__all__ = [
    "Attempt",
    "Breaker",
    "BreakerEvent",
    "BreakerRun",
    "ChildRefusedError",
    "CircuitPolicy",
    "Clock",
    "Conflict",
    "Controller",
    "Decision",
    "Denial",
    "Dimension",
    "Effect",
    "FirstKnown",
    "GenaiPrices",
    "Interrupted",
    "InterruptionRecord",
    "Ledger",
    "Mode",
    "Observer",
    "Outcome",
    "Policy",
    "PriceTable",
    "Prices",
    "Rate",
    "Reason",
    "Reconcile",
    "Resume",
    "ResumeRefusedError",
    "RunBudget",
    "RunContext",
    "RunStats",
    "StateError",
    "Status",
    "SystemClock",
    "Terminal",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "Verdict",
    "WorkflowClass",
    "WouldHave",
    "tool_spec",
]


def __getattr__(name: str) -> Any:
    if name not in _FROM_GUARD:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("pytest_tripwire.guard"), name)
