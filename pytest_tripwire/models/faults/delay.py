"""The answer takes its time."""

from __future__ import annotations

import math

import msgspec

from pytest_tripwire.models.faults.fault import Delivery, ModelFault


class Delay(ModelFault, frozen=True, kw_only=True, tag="delay"):
    """The response begins late, in real time, as time-outs of clients are real.

    Args:
        seconds: how late.
    """

    seconds: float = 1.0

    def __post_init__(self) -> None:
        """Look at the fields."""
        super().__post_init__()
        late: object = self.seconds
        self._demand(
            f"seconds={late!r}: give a number of seconds from 0",
            sound=isinstance(late, int | float) and 0 <= late < math.inf,
        )

    def deliver(self, delivery: Delivery) -> Delivery:
        """How the response gets to the client."""
        return msgspec.structs.replace(delivery, delay=delivery.delay + self.seconds)
