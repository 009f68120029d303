"""The answer takes its time."""

from __future__ import annotations

import msgspec

from pytest_tripwire.models.faults.fault import Delivery, ModelFault


class Delay(ModelFault, frozen=True, kw_only=True, tag="delay"):
    """The response begins late, in real time, as time-outs of clients are real.

    Args:
        seconds: how late.
    """

    seconds: float = 1.0

    def deliver(self, delivery: Delivery) -> Delivery:
        """How the response gets to the client."""
        return msgspec.structs.replace(delivery, delay=delivery.delay + self.seconds)
