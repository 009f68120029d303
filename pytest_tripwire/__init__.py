"""Stop an agent that repeats itself before its next mutation, and prove in pytest that it stops.

Names are loaded when they are asked for: pytest imports this package at every start, for every
project that has it installed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_tripwire.breaker import Denial, RunBudget, tool_spec
    from pytest_tripwire.guard import Breaker, Interrupted
    from pytest_tripwire.harness import (
        Agent,
        Harness,
        HarnessError,
        Options,
        Protection,
        Run,
        Task,
        TripwireFailure,
        assert_interrupted,
        assert_no_mutation_after_interrupt,
    )
    from pytest_tripwire.plugin.handle import Tripwire, TripwireFor
    from pytest_tripwire.timeline import Effect, Reason, ToolSpec
    from pytest_tripwire.world import AMOUNT, NONCE, RESOURCE, WORDING, Role

__version__ = "0.1.0"

_HOMES = {
    "breaker": ("Denial", "RunBudget", "tool_spec"),
    "guard": ("Breaker", "Interrupted"),
    "harness": (
        "Agent",
        "Harness",
        "HarnessError",
        "Options",
        "Protection",
        "Run",
        "Task",
        "TripwireFailure",
        "assert_interrupted",
        "assert_no_mutation_after_interrupt",
    ),
    "plugin.handle": ("Tripwire", "TripwireFor"),
    "timeline": ("Effect", "Reason", "ToolSpec"),
    "world": ("AMOUNT", "NONCE", "RESOURCE", "WORDING", "Role"),
}

__all__ = [
    "AMOUNT",
    "NONCE",
    "RESOURCE",
    "WORDING",
    "Agent",
    "Breaker",
    "Denial",
    "Effect",
    "Harness",
    "HarnessError",
    "Interrupted",
    "Options",
    "Protection",
    "Reason",
    "Role",
    "Run",
    "RunBudget",
    "Task",
    "ToolSpec",
    "Tripwire",
    "TripwireFailure",
    "TripwireFor",
    "assert_interrupted",
    "assert_no_mutation_after_interrupt",
    "tool_spec",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
