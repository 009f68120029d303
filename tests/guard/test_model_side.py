"""What a model request costs where nobody says it, and what the model keeps saying."""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Mode, PriceTable, Reason, RunBudget, Usage

PRICES = {"small": (1, 10), "big": (5, 50)}
USED = Usage(prompt_tokens=100_000, completion_tokens=10_000)


def begun(prices: Any = None, **limits: Any) -> Any:
    return Breaker(budget=RunBudget(**limits), prices=prices).run()


def asks(run: Any, usage: Usage = USED, **about: Any) -> Decimal:
    """One request; returns what was spent by then."""
    assert run.before_model().allowed
    run.after_model(usage, **about)
    cost: Decimal = run.stats().cost_usd
    return cost


@pytest.mark.parametrize("prices", [PRICES, PriceTable(PRICES)])
def test_a_cost_that_nobody_says_is_worked_out(prices: Any) -> None:
    run = begun(prices, max_model_cost_usd=Decimal(5))

    assert asks(run, model="small") == Decimal("0.2")
    assert asks(run, model="big") == Decimal("1.2")
    assert run.mode is Mode.OPEN


def test_a_cost_that_the_provider_says_goes_before_any_table() -> None:
    said = Usage(prompt_tokens=100_000, completion_tokens=10_000, cost_usd=Decimal("0.01"))

    assert asks(begun(PRICES), said, model="small") == Decimal("0.01")


def test_the_provider_can_tell_two_models_of_one_name_apart() -> None:
    run = begun({"a/small": (1, 10), "b/small": (2, 20)})

    assert asks(run, model="small", provider="b") == Decimal("0.4")


@pytest.mark.parametrize(
    ("prices", "about"),
    [(None, {"model": "small"}), (PRICES, {}), (PRICES, {"model": "unheard of"})],
)
def test_what_cannot_be_worked_out_is_unknown_and_not_zero(
    prices: Any, about: dict[str, str]
) -> None:
    run = begun(prices, max_model_cost_usd=Decimal(5))
    asks(run, **about)

    assert run.last_reason is Reason.COST_UNKNOWN


def test_a_table_that_fails_knows_nothing(caplog: pytest.LogCaptureFixture) -> None:
    class Broken:
        def price_of(self, *_: Any) -> Decimal:
            raise ConnectionError

    run = begun(Broken(), max_model_cost_usd=Decimal(5))
    with caplog.at_level(logging.ERROR, "pytest_tripwire.breaker"):
        asks(run, model="small")

    assert run.last_reason is Reason.COST_UNKNOWN
    assert "prices of 'small' could not be asked for" in caplog.text


def test_a_child_pays_from_the_same_table() -> None:
    run = begun(PRICES)
    with run.child() as child:
        asks(child, model="small")

    assert run.stats().cost_usd == Decimal("0.2")


def test_the_same_words_again_and_again_stop_the_run() -> None:
    run = begun()
    for text in ("Let me try again.", "let me  try AGAIN.", "Let me try\nagain."):
        assert run.mode is Mode.OPEN
        asks(run, Usage(), text=text)

    assert run.last_reason is Reason.OUTPUT_REPETITION
    assert not run.before_model().allowed


def test_other_words_or_none_stop_nothing() -> None:
    run = begun()
    for number in range(9):
        asks(run, Usage(), text=f"Step {number}")
        asks(run, Usage())

    assert run.mode is Mode.OPEN


def test_a_price_table_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="'small'"):
        Breaker(prices={"small": "cheap"})
