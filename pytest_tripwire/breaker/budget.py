"""The limits of one run, each independent of the others, each optional."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum

import msgspec

from pytest_tripwire.timeline import Reason


class Dimension(StrEnum):
    """One thing that a run may use up. The names are those of `RunBudget`'s limits."""

    TURNS = "max_turns"
    TOOL_CALLS = "max_tool_calls"
    SIDE_EFFECTS = "max_side_effects"
    MODEL_COST = "max_model_cost_usd"
    TOKENS = "max_tokens"


REASONS: dict[Dimension, Reason] = {
    Dimension.SIDE_EFFECTS: Reason.SIDE_EFFECT_BUDGET,
    Dimension.TOOL_CALLS: Reason.TOOL_CALL_BUDGET,
    Dimension.TURNS: Reason.TURN_BUDGET,
    Dimension.MODEL_COST: Reason.COST_BUDGET,
    Dimension.TOKENS: Reason.TOKEN_BUDGET,
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
    alert_share: float = 0.8

    def __post_init__(self) -> None:
        """Refuse limits that no run could keep."""
        for name in self.__struct_fields__:
            limit = getattr(self, name)
            if limit is not None and not limit >= 0:
                message = f"RunBudget({name}={limit}): a limit is 0 or more, or None for no limit"
                raise ValueError(message)

    def limit(self, dimension: Dimension) -> Decimal | None:
        """The limit of one dimension, None where there is none."""
        value = getattr(self, dimension.value)
        return None if value is None else Decimal(value)


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one model request used, as the provider says it.

    Args:
        prompt_tokens: tokens of the prompt, None if the provider does not say.
        completion_tokens: tokens of the answer, None if the provider does not say.
        cost_usd: what it cost, US dollars; None if nobody knows. Unknown is never zero.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: Decimal | None = None

    def __post_init__(self) -> None:
        """Take what no request can have used for unknown: claimed costs are hostile input."""
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None and not _is_amount(value):
                msgspec.structs.force_setattr(self, name, None)

    @property
    def tokens(self) -> int:
        """All tokens that are known of."""
        return (self.prompt_tokens or 0) + (self.completion_tokens or 0)


def _is_amount(value: object) -> bool:
    try:
        amount = Decimal(str(value))
    except ArithmeticError:
        return False
    return amount.is_finite() and amount >= 0
