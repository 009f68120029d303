"""The limits of one run, each independent of the others, each optional."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any

import msgspec

from pytest_tripwire.breaker.budget_table import CLASS, read_table
from pytest_tripwire.breaker.classes import Classes
from pytest_tripwire.breaker.limits import read_count, read_dollars, read_limit
from pytest_tripwire.timeline import Reason


class Dimension(StrEnum):
    """One thing that a run may use up. The names are those of `RunBudget`'s limits."""

    TURNS = "max_turns"
    TOOL_CALLS = "max_tool_calls"
    SIDE_EFFECTS = "max_side_effects"
    MODEL_COST = "max_model_cost_usd"
    TOKENS = "max_tokens"
    SUBAGENTS = "max_subagents"


REASONS: dict[Dimension, Reason] = {
    Dimension.SIDE_EFFECTS: Reason.SIDE_EFFECT_BUDGET,
    Dimension.TOOL_CALLS: Reason.TOOL_CALL_BUDGET,
    Dimension.TURNS: Reason.TURN_BUDGET,
    Dimension.MODEL_COST: Reason.COST_BUDGET,
    Dimension.TOKENS: Reason.TOKEN_BUDGET,
    Dimension.SUBAGENTS: Reason.SUBAGENT_BUDGET,
}


class RunBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one run. Two are soft: they bind only in part.

    Args:
        max_turns: model requests. The backstop; nothing extends it.
        usual_turns: model requests after which a run has to get somewhere with each (soft).
        deadline_s: seconds since the run began; reached when that many have passed.
        max_model_cost_usd: what its model requests may cost, US dollars.
        max_tokens: tokens of all its model requests, prompt and completion.
        max_prompt_tokens: tokens of one request's prompt; past it, one last answer is asked for
            (soft).
        max_tool_calls: calls that are dispatched. A refused call costs nothing.
        max_side_effects: business mutations. An unknown one counts, a definite failure does not.
        max_same_intent: dispatches of one intent.
        max_no_progress_steps: fruitless steps of one kind that are executed; by default 3.
        max_consecutive_errors: turns in a row in which calls fail, by whatever error, and none
            succeeds; by default 5.
        max_repeated_errors: how often one class of error may be met within the last five turns with
            calls, whatever was asked and whatever succeeded in between; off by default.
        max_attempts_per_task: tries of one task. In one too many every call is refused, and the run
            goes on.
        max_calls_per_minute: calls that are dispatched within any 60 seconds. One too many is
            refused with the seconds to wait, and the run goes on.
        max_subagents: child runs that are begun; they share all other limits.
        alert_share: share of a budget at which somebody is told, once; 0.8 by default.
    """

    max_turns: int | None = None
    usual_turns: int | None = None
    deadline_s: float | None = None
    max_model_cost_usd: Decimal | None = None
    max_tokens: int | None = None
    max_prompt_tokens: int | None = None
    max_tool_calls: int | None = None
    max_side_effects: int | None = None
    max_same_intent: int | None = None
    max_no_progress_steps: int | None = None
    max_consecutive_errors: int | None = None
    max_repeated_errors: int | None = None
    max_attempts_per_task: int | None = None
    max_calls_per_minute: int | None = None
    max_subagents: int | None = None
    alert_share: float = 0.8

    def __post_init__(self) -> None:
        """Refuse limits that no run could keep. Raises ValueError with the limit."""
        for name in self.__struct_fields__:
            given = getattr(self, name)
            try:
                limit = read_limit(name, given)
            except ValueError as error:
                raise ValueError(f"RunBudget({name}={error})") from None
            if limit is not given:
                msgspec.structs.force_setattr(self, name, limit)

    @classmethod
    def for_class(cls, name: str, *, classes: Classes | None = None, **overrides: Any) -> RunBudget:
        """The limits of a workflow class; `overrides` are limits that differ, None for none at all.

        Args:
            name: `simple_lookup`, `research`, `complex_research`, `support`, `financial_write`, or
                one of `classes`.
            classes: classes of your own, by name; they go before those that are built in.
            overrides: limits by their names here.

        Raises:
            ValueError: there is no such class or limit; the message names those that are like it.
        """
        return cls.from_mapping({**overrides, CLASS: name}, classes=classes)

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any], *, classes: Classes | None = None) -> RunBudget:
        """Limits from a plain table, such as one of TOML. The key `class` names a workflow class
        whose limits hold where the table says nothing else.

        Raises:
            TypeError: what was given is no table.
            ValueError: a line for each key that is unknown or whose value is none of its kind.
        """
        return cls(**read_table(table, cls.__struct_fields__, classes))

    def limit(self, dimension: Dimension) -> Decimal | None:
        """The limit of one dimension, None where there is none."""
        value = getattr(self, dimension.value)
        return None if value is None else Decimal(value)


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one model request used, as the provider says it.

    Args:
        prompt_tokens: tokens of the prompt, those that came from a cache or went into one among
            them; None if the provider does not say.
        completion_tokens: tokens of the answer, None if the provider does not say.
        cost_usd: what it cost, US dollars; None if nobody knows. Unknown is never zero.
        cached_tokens: of the prompt's tokens, those that were read from the provider's cache.
        cache_write_tokens: of the prompt's tokens, those that were written to it.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: Decimal | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None

    def __post_init__(self) -> None:
        """Take what no request can have used for unknown: claimed costs are hostile input."""
        for name in self.__struct_fields__:
            given = getattr(self, name)
            kept = read_dollars(given) if name == "cost_usd" else _tokens(given)
            if kept is not given:
                msgspec.structs.force_setattr(self, name, kept)

    @property
    def tokens(self) -> int:
        """All tokens that are known of."""
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


def _tokens(value: Any) -> int | None:
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return read_count(whole)
