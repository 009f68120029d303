"""What a model request costs, from the tokens that it used.

A price that nobody knows is None, and never zero: under a budget in money the run is stopped then,
rather than told that it has spent nothing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Protocol

from pytest_tripwire.breaker.prices.public import GenaiPrices
from pytest_tripwire.breaker.prices.table import PriceTable, Rate
from pytest_tripwire.breaker.prices.tokens import TokenUsage

__all__ = ["FirstKnown", "GenaiPrices", "PriceTable", "Prices", "Rate", "TokenUsage", "price_of"]


class Prices(Protocol):
    """Knows what models cost. A table of your own needs this one method."""

    def price_of(
        self, usage: TokenUsage, model: str, provider: str | None = None
    ) -> Decimal | None:
        """What a request has cost, US dollars; None if that is unknown."""


class FirstKnown:
    """Several tables as one: the first that knows a price gives it, your own before public ones."""

    def __init__(self, *tables: Prices) -> None:
        self._tables = tables

    def price_of(
        self, usage: TokenUsage, model: str, provider: str | None = None
    ) -> Decimal | None:
        """What a request has cost; None if no table knows."""
        prices = (table.price_of(usage, model, provider) for table in self._tables)
        return next((price for price in prices if price is not None), None)


def price_of(
    usage: TokenUsage, model: str, provider: str | None = None, *, prices: Prices | None = None
) -> Decimal | None:
    """What a model request has cost, from the tokens that it used.

    Args:
        usage: its tokens, as the provider says.
        model: the model's name, as the provider has it.
        provider: the provider's name, e.g. `openai`, where the model's alone is not enough.
        prices: where prices come from; the package `genai-prices` by default.

    Returns:
        US dollars; None when model, price or tokens are unknown.

    Raises:
        ModuleNotFoundError: no `prices` are given and the package is missing.
    """
    return (GenaiPrices() if prices is None else prices).price_of(usage, model, provider)
