"""The public prices of models, from a package that carries them. Loaded only when used."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any

from pytest_tripwire.breaker.limits import read_dollars
from pytest_tripwire.breaker.prices.tokens import TokenUsage, known_tokens

_MISSING = (
    "prices of models come from the package genai-prices, which is not installed. Install it: "
    "pip install 'pytest-agent-tripwire[prices]'. Or give prices of your own: "
    'PriceTable({"the-model": (2.50, 10)}), in US dollars for a million tokens of prompt and of '
    "completion."
)


class GenaiPrices:
    """The public prices that the package `genai-prices` carries. It is loaded when one of these is
    made. Nothing is asked of any network, so its prices are as old as the package.

    Args:
        today: gives the moment that prices are looked up for; the present by default.

    Raises:
        ModuleNotFoundError: the package is missing; the message says how to get it.
    """

    def __init__(self, today: Callable[[], datetime] | None = None) -> None:
        try:
            import genai_prices
        except ModuleNotFoundError as error:
            if error.name != "genai_prices":
                raise
            raise ModuleNotFoundError(_MISSING, name="genai_prices") from None
        self._package = genai_prices
        self._today = today

    def price_of(
        self, usage: TokenUsage, model: str, provider: str | None = None
    ) -> Decimal | None:
        """What a request has cost; None for a model that is not listed, or listed without prices of
        the tokens that were used.
        """
        tokens = known_tokens(usage)
        if tokens is None:
            return None
        try:
            found = self._package.calc_price(
                self._package.Usage(
                    input_tokens=tokens.prompt,
                    output_tokens=tokens.completion,
                    cache_read_tokens=tokens.cached,
                    cache_write_tokens=tokens.written,
                ),
                model,
                provider_id=provider,
                genai_request_timestamp=self._today() if self._today else None,
            )
        except (LookupError, ValueError, ArithmeticError):
            return None
        # A model without prices costs nothing there, and not in truth.
        needed = {"input_mtok": tokens.prompt, "output_mtok": tokens.completion}
        unpriced = [name for name, count in needed.items() if count and not _has(found, name)]
        return None if unpriced else read_dollars(found.total_price)


def _has(found: Any, name: str) -> bool:
    """Whether a calculation rests on a price of this name."""
    return getattr(found.model_price, name, None) is not None
