"""The model's side of a run: its requests, what they cost, and what the model has said."""

from __future__ import annotations

import logging
from decimal import Decimal

import msgspec

from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.prices import Prices
from pytest_tripwire.timeline import Verdict

log = logging.getLogger("pytest_tripwire.breaker")


class ModelSide:
    """Brackets model requests; part of `BreakerRun`."""

    _controller: Controller
    _prices: Prices | None

    def before_model(self, estimate_usd: Decimal | None = None) -> Verdict:
        """Open a turn. Anything but `ALLOW` means: do not send the request.

        Args:
            estimate_usd: what the request is expected to cost; by default the lowest seen.
        """
        return self._controller.before_model(estimate_usd)

    def after_model(
        self,
        usage: Usage,
        text: str = "",
        model: str | None = None,
        provider: str | None = None,
    ) -> None:
        """Pay for the request that was opened first and not paid yet.

        Args:
            usage: what it used, as the provider says.
            text: what the model has said, without its calls: the same again and again, while
                nothing comes of it, stops the run. Nothing of it is kept but a fingerprint.
            model: the model's name; with it, and with prices, a cost that `usage` leaves out is
                worked out.
            provider: the provider's name, where the model's alone does not tell the price.
        """
        self._controller.after_model(priced(usage, self._prices, model, provider), text)

    def model_failed(self) -> None:
        """Take back what was reserved for a request that failed and cost nothing."""
        self._controller.model_failed()


def priced(
    usage: Usage, prices: Prices | None, model: str | None, provider: str | None = None
) -> Usage:
    """`usage` with its cost, where that is unknown and `prices` know it. A table that fails knows
    nothing.
    """
    if usage.cost_usd is not None or prices is None or model is None:
        return usage
    try:
        cost = prices.price_of(usage, model, provider)
    except Exception:
        log.exception("the prices of %r could not be asked for; its cost is unknown", model)
        return usage
    return msgspec.structs.replace(usage, cost_usd=cost)
