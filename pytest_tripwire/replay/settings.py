"""How traces are replayed."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.replay.trace import Limits
from pytest_tripwire.timeline import Effect, ToolSpec


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for a replay, besides what the trace itself says.

    Args:
        hints: whether what a trace declares about its tools counts.
        budget: limits; each field that is not None replaces what the trace says, see `budget_of`.
        specs: declarations by tool name; they outweigh the trace's hints.
        default_effect: what a tool does where neither `specs` nor the trace say it.
    """

    hints: bool = True
    budget: RunBudget | None = None
    specs: Mapping[str, ToolSpec] = {}
    default_effect: Effect | None = None


#: What a limit of a trace is called in a budget.
_NAMES = {
    "turns": "max_turns",
    "deadline_s": "deadline_s",
    "cost_usd": "max_model_cost_usd",
    "tool_calls": "max_tool_calls",
    "side_effects": "max_side_effects",
}


def budget_of(limits: Limits, budget: RunBudget | None) -> RunBudget:
    """The limits of a trace, with those of `budget` in their place where it has any."""
    own = RunBudget(**{name: getattr(limits, field) for field, name in _NAMES.items()})
    if budget is None:
        return own
    named = {name: getattr(budget, name) for name in budget.__struct_fields__}
    return msgspec.structs.replace(
        own, **{name: value for name, value in named.items() if value is not None}
    )
