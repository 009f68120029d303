"""Budgets are reserved before, settled after, and never go below zero."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.budget import Dimension, RunBudget
from pytest_tripwire.timeline import BudgetLine

#: "Some must be left": what a request needs whose price is not known before.
ANY = Decimal(0)


class Account:
    """One dimension: what is spent and what is promised. Not locked; `Accounts` does that."""

    __slots__ = ("alerted", "limit", "overrun", "reserved", "spent")

    def __init__(self, limit: Decimal | None, spent: Decimal) -> None:
        self.limit = limit
        self.spent = spent
        self.reserved = Decimal(0)
        self.overrun = Decimal(0)
        self.alerted = False

    @property
    def remaining(self) -> Decimal | None:
        """What may still be reserved, never below zero; None without a limit."""
        if self.limit is None:
            return None
        return max(Decimal(0), self.limit - self.spent - self.reserved)

    def can_give(self, amount: Decimal) -> bool:
        """Whether `amount` is there; for `ANY`, whether anything is."""
        left = self.remaining
        return left is None or (left >= amount and left > 0)

    def settle(self, reserved: Decimal, spent: Decimal) -> None:
        """Turn a reservation into what was used; what was not there is booked as overrun."""
        self.reserved -= reserved
        self.spent += spent
        if self.limit is not None:
            self.overrun = max(self.overrun, self.spent - self.limit)


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """A budget has passed its share."""

    name: str
    spent: float
    limit: float


class Accounts:
    """Owner of a run's budgets. A reservation takes all that it needs, or nothing.

    Args:
        budget: the limits.
        spent: what an earlier part of the same run has used, by dimension name. A budget that had
            passed its share by then is not told of again.
    """

    def __init__(
        self, budget: RunBudget, spent: Mapping[str, Decimal | float] | None = None
    ) -> None:
        before = spent or {}
        self._lock = threading.Lock()
        self._share = Decimal(str(budget.alert_share))
        self._accounts = {
            each: Account(budget.limit(each), Decimal(str(before.get(each.value, 0))))
            for each in Dimension
        }
        if before:
            self.alerts()

    def short_of(self, needs: Mapping[Dimension, Decimal]) -> Dimension | None:
        """The first dimension that cannot give what is needed; None if all can."""
        with self._lock:
            return self._short_of(needs)

    def reserve(self, needs: Mapping[Dimension, Decimal]) -> Dimension | None:
        """Reserve every amount in `needs`, or none and say which dimension was short."""
        with self._lock:
            short = self._short_of(needs)
            if short is None:
                for each, amount in needs.items():
                    self._accounts[each].reserved += amount
            return short

    def settle(self, dimension: Dimension, *, reserved: Decimal, spent: Decimal) -> None:
        """Turn a reservation into what was really used; 0 gives it back."""
        with self._lock:
            self._accounts[dimension].settle(reserved, spent)

    def used(self, dimension: Dimension) -> Decimal:
        """What is spent or promised of a dimension, limited or not."""
        with self._lock:
            account = self._accounts[dimension]
            return account.spent + account.reserved

    def is_limited(self, dimension: Dimension) -> bool:
        """Whether this dimension has a limit."""
        return self._accounts[dimension].limit is not None

    def alerts(self) -> tuple[Alert, ...]:
        """Budgets that have passed their share since this was last asked; each is told once."""
        with self._lock:
            return tuple(
                alert
                for each, account in self._accounts.items()
                if (alert := self._alert(each, account)) is not None
            )

    def lines(self) -> tuple[BudgetLine, ...]:
        """Every limited dimension as it stands."""
        with self._lock:
            return tuple(
                BudgetLine(
                    name=each.value,
                    limit=float(account.limit),
                    spent=float(account.spent + account.reserved),
                    remaining=float(account.remaining or 0),
                )
                for each, account in self._accounts.items()
                if account.limit is not None
            )

    def _alert(self, dimension: Dimension, account: Account) -> Alert | None:
        if account.alerted or not account.limit:
            return None
        used = account.spent + account.reserved
        if used < account.limit * self._share:
            return None
        account.alerted = True
        return Alert(name=dimension.value, spent=float(used), limit=float(account.limit))

    def _short_of(self, needs: Mapping[Dimension, Decimal]) -> Dimension | None:
        for each, amount in needs.items():
            if not self._accounts[each].can_give(amount):
                return each
        return None
