"""The connection ends before a byte of the answer."""

from __future__ import annotations

import msgspec

from pytest_tripwire.models.faults.fault import Delivery, ModelFault


class Drop(ModelFault, frozen=True, kw_only=True, tag="drop"):
    """The client hears nothing, and cannot know whether its request was worked on."""

    def deliver(self, delivery: Delivery) -> Delivery:
        """How the response gets to the client."""
        return msgspec.structs.replace(delivery, drop=True)
