"""Independent budgets: reserved before, settled after, never below zero."""

from __future__ import annotations

import threading
from enum import StrEnum

import msgspec

from pytest_tripwire.timeline import BudgetLine, Reason


class Dimension(StrEnum):
    """One thing that a run may use up. The names are those of `RunBudget`'s limits."""

    TURNS = "max_turns"
    TOOL_CALLS = "max_tool_calls"
    SIDE_EFFECTS = "max_side_effects"


REASONS: dict[Dimension, Reason] = {
    Dimension.TURNS: Reason.TURN_BUDGET,
    Dimension.TOOL_CALLS: Reason.TOOL_CALL_BUDGET,
    Dimension.SIDE_EFFECTS: Reason.SIDE_EFFECT_BUDGET,
}


class RunBudget(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one run, each independent of the others, each optional.

    Args:
        max_turns: model requests. The backstop; nothing extends it.
        max_tool_calls: calls that are dispatched. A refused call costs nothing.
        max_side_effects: business mutations. An unknown one counts, a definite failure does not.
    """

    max_turns: int | None = None
    max_tool_calls: int | None = None
    max_side_effects: int | None = None

    def __post_init__(self) -> None:
        """Refuse limits that no run could keep."""
        for name in self.__struct_fields__:
            limit = getattr(self, name)
            if limit is not None and limit < 0:
                message = f"RunBudget({name}={limit}): a limit is 0 or more, or None for no limit"
                raise ValueError(message)

    def limit(self, dimension: Dimension) -> float | None:
        """The limit of one dimension, None where there is none."""
        value: float | None = getattr(self, dimension.value)
        return value


class Account:
    """One dimension: what is spent and what is promised. Not locked; `Accounts` does that."""

    __slots__ = ("limit", "overrun", "reserved", "spent")

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent: float = 0
        self.reserved: float = 0
        self.overrun: float = 0

    @property
    def remaining(self) -> float:
        """What may still be reserved; infinite without a limit, never below zero."""
        if self.limit is None:
            return float("inf")
        return max(0, self.limit - self.spent - self.reserved)

    def settle(self, reserved: float, spent: float) -> None:
        """Turn what was promised into what was really used."""
        self.reserved -= reserved
        self.spent += spent
        if self.limit is not None:
            self.overrun = max(self.overrun, self.spent - self.limit)


class Accounts:
    """Owner of a run's budgets. A reservation takes all that it needs, or nothing."""

    def __init__(self, budget: RunBudget) -> None:
        self._lock = threading.Lock()
        self._accounts = {each: Account(budget.limit(each)) for each in Dimension}

    def short_of(self, needs: dict[Dimension, float]) -> Dimension | None:
        """The first dimension that cannot give what is needed; None if all can."""
        with self._lock:
            return self._short_of(needs)

    def reserve(self, needs: dict[Dimension, float]) -> Dimension | None:
        """Reserve every amount in `needs`, or none and say which dimension was short."""
        with self._lock:
            short = self._short_of(needs)
            if short is None:
                for each, amount in needs.items():
                    self._accounts[each].reserved += amount
            return short

    def settle(self, dimension: Dimension, *, reserved: float, spent: float) -> None:
        """Turn a reservation into what was really used; 0 gives it back."""
        with self._lock:
            self._accounts[dimension].settle(reserved, spent)

    def lines(self) -> tuple[BudgetLine, ...]:
        """Every limited dimension as it stands."""
        with self._lock:
            return tuple(
                BudgetLine(
                    name=each.value,
                    limit=account.limit,
                    spent=account.spent + account.reserved,
                    remaining=account.remaining,
                )
                for each, account in self._accounts.items()
                if account.limit is not None
            )

    def _short_of(self, needs: dict[Dimension, float]) -> Dimension | None:
        for each, amount in needs.items():
            if self._accounts[each].remaining < amount:
                return each
        return None
