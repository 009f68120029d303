"""The connection ends in the middle of the answer."""

from __future__ import annotations

import msgspec

from pytest_tripwire.models.faults.fault import Delivery, ModelFault, is_count


class CutStream(ModelFault, frozen=True, kw_only=True, tag="cut_stream"):
    """The client gets the beginning of a stream and no end; of a response that is no stream it
    gets half.

    Args:
        after: parts of the stream that still arrive.
    """

    after: int = 2

    def __post_init__(self) -> None:
        """Look at the fields."""
        super().__post_init__()
        self._demand(
            f"after={self.after!r}: give a number of parts from 0", sound=is_count(self.after, 0)
        )

    def deliver(self, delivery: Delivery) -> Delivery:
        """How the response gets to the client."""
        return msgspec.structs.replace(delivery, cut=self.after)
