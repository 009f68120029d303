"""What model requests cost: own tables, the public package, and prices that nobody knows."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.prices import FirstKnown, GenaiPrices, PriceTable, Rate, price_of

TODAY = datetime(2026, 11, 1, tzinfo=UTC)
TOKENS = st.integers(0, 10**9)
OWN = PriceTable(
    {
        "plain": (2.50, "10"),
        "cheap/plain": (1, 1),
        "caching": Rate(prompt=3, completion=15, cached="0.30", cache_write=Decimal("3.75")),
        "free": (0, 0),
    }
)


def usage(
    prompt: Any = 1000, completion: Any = 100, cached: Any = None, written: Any = None
) -> Usage:
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        cache_write_tokens=written,
    )


# -- a table of one's own


@pytest.mark.parametrize(
    ("model", "provider", "used", "dollars"),
    [
        ("plain", None, usage(), "0.0035"),
        ("plain", "dear", usage(), "0.0035"),
        ("plain", "cheap", usage(), "0.0011"),
        ("plain", None, usage(cached=400, written=100), "0.0035"),
        ("caching", None, usage(cached=400, written=100), "0.003495"),
        ("free", None, usage(), "0"),
        ("plain", None, usage(0, 0), "0"),
    ],
)
def test_a_price_is_that_of_the_tokens(
    model: str, provider: str | None, used: Usage, dollars: str
) -> None:
    assert price_of(used, model, provider, prices=OWN) == Decimal(dollars)


@pytest.mark.parametrize(
    "used",
    [
        usage(prompt=None),
        usage(completion=None),
        usage(prompt=-1),
        usage(cached=1001),
        usage(cached=600, written=600),
    ],
)
@pytest.mark.parametrize("kind", ["own", "public"])
def test_tokens_that_nobody_knows_or_that_cannot_be_have_no_price(kind: str, used: Usage) -> None:
    prices = OWN if kind == "own" else public()

    assert price_of(used, "plain" if kind == "own" else "gpt-4o", prices=prices) is None


@pytest.mark.parametrize(
    "name", ["prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens"]
)
@pytest.mark.parametrize("bad", [-1, "5", 0.5, True])
def test_whoever_counts_them_tokens_that_cannot_be_have_no_price(name: str, bad: Any) -> None:
    said = {"prompt_tokens": 9, "completion_tokens": 9, "cached_tokens": 0, "cache_write_tokens": 0}

    assert OWN.price_of(SimpleNamespace(**said), "plain") is not None
    assert OWN.price_of(SimpleNamespace(**{**said, name: bad}), "plain") is None


def test_a_model_that_is_not_in_the_table_has_no_price() -> None:
    assert price_of(usage(), "unheard of", prices=OWN) is None


@given(TOKENS, TOKENS, st.floats(0, 1), st.floats(0, 1))
def test_a_table_is_exact_and_never_below_zero(
    prompt: int, completion: int, cached: float, written: float
) -> None:
    read = int(prompt * cached)
    wrote = int((prompt - read) * written)

    price = OWN.price_of(usage(prompt, completion, read, wrote), "caching")

    plain = prompt - read - wrote
    cents = plain * 300 + read * 30 + wrote * 375 + completion * 1500
    assert price == Decimal(cents) / 100_000_000


@pytest.mark.parametrize("bad", [3, (1,), (1, 2, 3), "12", None, (1, -2), (True, 1), ("dear", 1)])
def test_an_entry_that_is_no_price_is_refused_by_name(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"PriceTable\['mine'\].*expected"):
        PriceTable({"mine": bad})


def test_the_first_table_that_knows_is_asked() -> None:
    both = FirstKnown(PriceTable({"mine": (1, 1)}), PriceTable({"mine": (9, 9), "other": (2, 2)}))

    assert both.price_of(usage(1_000_000, 0), "mine") == 1
    assert both.price_of(usage(1_000_000, 0), "other") == 2
    assert both.price_of(usage(), "none") is None


def test_a_price_of_nothing_is_a_price() -> None:
    both = FirstKnown(PriceTable({"mine": (0, 0)}), PriceTable({"mine": (9, 9)}))

    assert both.price_of(usage(), "mine") == 0


# -- the public package


def public() -> GenaiPrices:
    pytest.importorskip("genai_prices")
    return GenaiPrices(today=lambda: TODAY)


@pytest.mark.parametrize(
    ("model", "provider", "used", "dollars"),
    [
        ("gpt-4o", None, usage(), "0.0035"),
        ("gpt-4o", "openai", usage(cached=400), "0.0030"),
        ("claude-sonnet-4-5", "anthropic", usage(cached=400, written=100), "0.003495"),
        ("amazon.titan-embed-text-v1", "aws", usage(1_000_000, 0), "0.1"),
    ],
)
def test_public_prices(model: str, provider: str | None, used: Usage, dollars: str) -> None:
    assert price_of(used, model, provider, prices=public()) == Decimal(dollars)


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("unheard of", None),
        ("gpt-4o", "unheard of"),
        ("", None),
        ("mai-ds-r1:free", "azure"),  # listed without any price
        ("amazon.titan-embed-text-v1", "aws"),  # listed without one for the answer's tokens
        ("whisper-large-v3", "groq"),  # priced by the hour
    ],
)
def test_an_unknown_public_price_is_unknown_and_not_zero(model: str, provider: str | None) -> None:
    assert price_of(usage(), model, provider, prices=public()) is None


def test_prices_are_those_of_the_day() -> None:
    days: list[datetime] = []
    pytest.importorskip("genai_prices")
    prices = GenaiPrices(today=lambda: days.append(TODAY) or TODAY)

    assert prices.price_of(usage(), "gpt-4o") == Decimal("0.0035")
    assert days == [TODAY]
    assert GenaiPrices().price_of(usage(), "gpt-4o") is not None


@settings(max_examples=40)
@given(TOKENS, TOKENS)
def test_more_tokens_never_cost_less(prompt: int, completion: int) -> None:
    prices = public()
    price, more = (
        prices.price_of(usage(prompt + extra, completion + extra), "gpt-4o") for extra in (0, 1)
    )

    assert price is not None
    assert more is not None
    assert 0 <= price < more


WATCHED = """
import sys, threading
asked = []
def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "urllib.")):
        asked.append(event)
sys.addaudithook(watch)
import pytest_tripwire.breaker.prices as prices
from pytest_tripwire.breaker.budget import Usage
assert "genai_prices" not in sys.modules
used = Usage(prompt_tokens=1000, completion_tokens=100)
assert prices.price_of(used, "m", prices=prices.PriceTable({"m": (1, 1)})) is not None
assert "genai_prices" not in sys.modules
assert prices.price_of(used, "gpt-4o") is not None
assert "genai_prices" in sys.modules
assert [each.name for each in threading.enumerate()] == ["MainThread"]
assert [event for event in asked if event != "socket.__new__"] == [], asked
"""


def test_it_is_loaded_when_used_and_asks_no_network_and_starts_no_thread() -> None:
    pytest.importorskip("genai_prices")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WATCHED], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)

    with pytest.raises(ModuleNotFoundError, match="genai-prices, which is not installed") as told:
        price_of(usage(), "gpt-4o")

    assert "pip install 'pytest-agent-tripwire[prices]'" in str(told.value)
    assert "PriceTable({" in str(told.value)
    assert price_of(usage(), "plain", prices=OWN) is not None
