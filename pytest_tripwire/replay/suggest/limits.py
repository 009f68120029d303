"""From the most that was used to limits that stop none of it."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Decimal
from typing import Any

import msgspec

from pytest_tripwire.replay.suggest.collect import Collected

#: Digits of an amount of money that are told.
_DIGITS = 3
#: Seconds within which two sums of durations may differ.
_SLACK_S = 1e-6


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a budget.

    Args:
        field: of `RunBudget`.
        value: the limit, None where none can be suggested.
        note: how it comes about, or why it does not.
    """

    field: str
    value: int | Decimal | None = None
    note: str


#: Field of `RunBudget`, field of `Use`, unit.
_COUNTS = (
    ("max_turns", "turns", ""),
    ("max_tool_calls", "tool_calls", ""),
    ("max_side_effects", "side_effects", ""),
    ("max_same_intent", "same_intent", ""),
    ("max_tokens", "tokens", ""),
    ("max_model_cost_usd", "cost_usd", " USD"),
    ("deadline_s", "elapsed_s", " s"),
)
_SILENT = {
    "same_intent": "have steps without arguments",
    "tokens": "do not say how many tokens each request used",
    "cost_usd": "do not say what each request cost",
    "elapsed_s": "do not say how long they took",
}


def suggestions(collected: Collected, margin: Decimal) -> list[Suggestion]:
    """A limit for each dimension that all runs of a class tell of.

    Args:
        collected: the most that they used.
        margin: what is laid on top, as a share: 0.25 for a quarter.
    """
    return [_suggestion(collected, margin, *each) for each in _COUNTS]


def _suggestion(
    collected: Collected, margin: Decimal, field: str, used: str, unit: str
) -> Suggestion:
    unknown = collected.unknown(used)
    if unknown:
        why = f"{unknown} of {collected.runs} runs {_SILENT[used]}"
        return Suggestion(field=field, note=f"not suggested: {why}")
    most = collected.most(used)
    limit = _limit(used, most, margin)
    if limit is None:
        return Suggestion(field=field, note="not suggested: no run used any")
    return Suggestion(
        field=field, value=limit, note=f"seen max {shown(most)}{unit}, margin {percent(margin)}"
    )


def _limit(used: str, most: Any, margin: Decimal) -> int | Decimal | None:
    """The limit, None where the dimension was not used at all and nothing can be said of it.

    Time, money and tokens are spent when *nothing is left*, so their limits are above what was
    used; the others are counts that may be used up.
    """
    wanted = Decimal(str(most)) * (1 + margin)
    if used == "elapsed_s":
        return max(math.ceil(wanted), math.floor(most + _SLACK_S) + 1) if most else None
    if used == "cost_usd":
        return _above(wanted, Decimal(most)) if most else None
    if used == "tokens":
        return max(math.ceil(wanted), most + 1) if most else None
    return math.ceil(wanted)


def _above(wanted: Decimal, most: Decimal) -> Decimal:
    """`wanted` in a few digits, rounded up, and more than `most`."""
    digit = Decimal(1).scaleb(wanted.adjusted() - _DIGITS + 1)
    rounded = (wanted / digit).to_integral_value(ROUND_CEILING) * digit
    while rounded <= most:
        rounded += digit
    return rounded


def shown(value: Any) -> str:
    """A number as people write it."""
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return str(value)


def percent(share: Decimal) -> str:
    """A share as people write it."""
    return f"{shown(share * 100)} %"
