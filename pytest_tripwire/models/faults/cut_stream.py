"""The connection ends in the middle of the answer."""

from __future__ import annotations

import msgspec

from pytest_tripwire.models.faults.fault import Delivery, ModelFault


class CutStream(ModelFault, frozen=True, kw_only=True, tag="cut_stream"):
    """The client gets the beginning of a stream and no end; of a response that is no stream it
    gets half.

    Args:
        after: parts of the stream that still arrive.
    """

    after: int = 2

    def deliver(self, delivery: Delivery) -> Delivery:
        """How the response gets to the client."""
        return msgspec.structs.replace(delivery, cut=self.after)
