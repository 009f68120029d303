"""The closed list of reasons for which a breaker acts. The strings are part of every record."""

from __future__ import annotations

from enum import StrEnum


class Family(StrEnum):
    """What kind of limit a reason belongs to."""

    BUDGET = "budget"
    NO_PROGRESS = "no_progress"
    SAFETY = "safety"
    CIRCUIT = "circuit"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why a call was not simply allowed."""

    TURN_BUDGET = "turn_budget"
    DEADLINE = "deadline"
    COST_BUDGET = "cost_budget"
    COST_UNKNOWN = "cost_unknown"
    TOKEN_BUDGET = "token_budget"
    TOOL_CALL_BUDGET = "tool_call_budget"
    SIDE_EFFECT_BUDGET = "side_effect_budget"
    SUBAGENT_BUDGET = "subagent_budget"
    SAME_INTENT_BUDGET = "same_intent_budget"
    TASK_ATTEMPTS = "task_attempts"
    RATE_LIMIT = "rate_limit"
    REPEATED_INTENT_SAME_OUTCOME = "repeated_intent_same_outcome"
    EMPTY_RESULTS = "empty_results"
    HANDOFF_WITHOUT_PROGRESS = "handoff_without_progress"
    REPEATED_DENIAL = "repeated_denial"
    STAGNANT_READ = "stagnant_read"
    INTENT_CYCLE = "intent_cycle"
    ERROR_STREAK = "error_streak"
    REPEATED_ERROR = "repeated_error"
    OUTPUT_REPETITION = "output_repetition"
    IDENTICAL_CALL = "identical_call"
    UNKNOWN_SIDE_EFFECT = "unknown_side_effect"
    DUPLICATE_WRITE = "duplicate_write"
    STALE_RESUME = "stale_resume"
    APPROVAL_EXPIRED = "approval_expired"
    DENIED = "denied"
    INVALID_ARGUMENTS = "invalid_arguments"
    CIRCUIT_OPEN = "circuit_open"
    CANCELLED = "cancelled"

    @property
    def family(self) -> Family:
        """The family this reason belongs to."""
        return _FAMILIES[self]


_MEMBERS: dict[Family, frozenset[Reason]] = {
    Family.BUDGET: frozenset(
        {
            Reason.TURN_BUDGET,
            Reason.DEADLINE,
            Reason.COST_BUDGET,
            Reason.COST_UNKNOWN,
            Reason.TOKEN_BUDGET,
            Reason.TOOL_CALL_BUDGET,
            Reason.SIDE_EFFECT_BUDGET,
            Reason.SUBAGENT_BUDGET,
            Reason.SAME_INTENT_BUDGET,
            Reason.TASK_ATTEMPTS,
            Reason.RATE_LIMIT,
        }
    ),
    Family.NO_PROGRESS: frozenset(
        {
            Reason.REPEATED_INTENT_SAME_OUTCOME,
            Reason.EMPTY_RESULTS,
            Reason.HANDOFF_WITHOUT_PROGRESS,
            Reason.REPEATED_DENIAL,
            Reason.STAGNANT_READ,
            Reason.INTENT_CYCLE,
            Reason.ERROR_STREAK,
            Reason.REPEATED_ERROR,
            Reason.OUTPUT_REPETITION,
            Reason.IDENTICAL_CALL,
        }
    ),
    Family.SAFETY: frozenset(
        {
            Reason.UNKNOWN_SIDE_EFFECT,
            Reason.DUPLICATE_WRITE,
            Reason.STALE_RESUME,
            Reason.APPROVAL_EXPIRED,
            Reason.DENIED,
            Reason.INVALID_ARGUMENTS,
        }
    ),
    Family.CIRCUIT: frozenset({Reason.CIRCUIT_OPEN}),
    Family.CANCELLED: frozenset({Reason.CANCELLED}),
}

_FAMILIES = {reason: family for family, reasons in _MEMBERS.items() for reason in reasons}
