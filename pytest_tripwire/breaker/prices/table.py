"""Prices of your own."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.breaker.limits import read_dollars
from pytest_tripwire.breaker.prices.tokens import TokenUsage, known_tokens

_MILLION = Decimal(1_000_000)


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """What a model costs, in US dollars for a million tokens.

    Args:
        prompt: tokens of the prompt.
        completion: tokens of the answer.
        cached: tokens read from the provider's cache; the price of the prompt where left out.
        cache_write: tokens written to it; the price of the prompt where left out.
    """

    prompt: Decimal
    completion: Decimal
    cached: Decimal | None = None
    cache_write: Decimal | None = None

    def __post_init__(self) -> None:
        """Take plain numbers and text for dollars. Raises ValueError for anything else."""
        for name in self.__struct_fields__:
            given = getattr(self, name)
            if given is None and name in ("cached", "cache_write"):
                continue
            amount = read_dollars(given)
            if amount is None:
                raise ValueError(f"Rate({name}={given!r}): expected US dollars, 0 or more")
            msgspec.structs.force_setattr(self, name, amount)


#: Dollars for a million tokens of prompt and of completion, where nothing else is to be said.
Pair: TypeAlias = tuple[Any, Any]
_PAIR = ("prompt", "completion")


class PriceTable:
    """Prices of your own, by model, or by `provider/model` where providers differ.

    Args:
        rates: for each a `Rate`, or a pair of dollars for a million tokens of prompt and of
            completion.

    Raises:
        ValueError: an entry is neither; the message names it.
    """

    def __init__(self, rates: Mapping[str, Rate | Pair]) -> None:
        self._rates = {model: _rate(model, each) for model, each in rates.items()}

    def price_of(
        self, usage: TokenUsage, model: str, provider: str | None = None
    ) -> Decimal | None:
        """What a request has cost; None for a model that is not in the table."""
        rate = self._rates.get(f"{provider}/{model}") or self._rates.get(model)
        tokens = known_tokens(usage)
        if rate is None or tokens is None:
            return None
        plain = tokens.prompt - tokens.cached - tokens.written
        parts = (
            (plain, rate.prompt),
            (tokens.cached, rate.prompt if rate.cached is None else rate.cached),
            (tokens.written, rate.prompt if rate.cache_write is None else rate.cache_write),
            (tokens.completion, rate.completion),
        )
        return sum((count * dollars for count, dollars in parts), Decimal(0)) / _MILLION


def _rate(model: str, given: Any) -> Rate:
    if isinstance(given, Rate):
        return given
    if isinstance(given, tuple | list) and len(given) == len(_PAIR):
        try:
            return Rate(**dict(zip(_PAIR, given, strict=True)))
        except ValueError as error:
            raise ValueError(f"PriceTable[{model!r}]: {error}") from None
    raise ValueError(
        f"PriceTable[{model!r}] = {given!r}: expected a Rate, or a pair of US dollars for a "
        "million tokens of prompt and of completion, such as (2.50, 10)"
    )
