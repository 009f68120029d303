"""What a state looks like, besides its colour, and what budgets are called."""

from __future__ import annotations

from pytest_tripwire.gate.html.markup import Markup, el
from pytest_tripwire.gate.standing import Standing

SYMBOLS: dict[Standing, str] = {
    Standing.CONTAINED: "✓",
    Standing.NOT_APPLICABLE: "–",  # noqa: RUF001 - a dash is meant
    Standing.KNOWN_FAILING: "≈",
    Standing.NOT_RUN: "○",
    Standing.FIXED: "↺",
    Standing.EXPIRED: "†",
    Standing.INCONCLUSIVE: "?",
    Standing.ESCAPED: "✗",
}

#: By the names of `RunBudget`'s limits, which nobody else needs to know.
BUDGETS: dict[str, str] = {
    "max_turns": "model requests",
    "max_tool_calls": "tool calls",
    "max_side_effects": "side effects",
    "max_model_cost_usd": "cost, USD",
    "max_tokens": "tokens",
    "max_subagents": "sub-agents",
    "deadline_s": "deadline, s",
}

#: From here on digits tell less than the power of ten.
_HUGE = 1e9


def class_of(state: Standing) -> str:
    """The class by which the style knows a state."""
    return f"s {state.value.replace(' ', '-')}"


def told(state: Standing, count: int | None = None) -> Markup:
    """A state in a symbol and words, with how often it occurs."""
    words = state.value if count is None else f"{count} {state.value}"
    return Markup(f"{el('span', SYMBOLS[state], aria_hidden='true')} {el('span', words)}")


def badge(state: Standing) -> Markup:
    """A state to be put beside a name."""
    return el("span", told(state), class_=class_of(state))


def amount(value: float) -> str:
    """A number as people read it: no more digits than tell something."""
    return f"{value:,.4f}".rstrip("0").rstrip(".") if abs(value) < _HUGE else f"{value:g}"
