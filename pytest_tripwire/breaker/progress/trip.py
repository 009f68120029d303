"""What a progress rule says when it has seen enough."""

from __future__ import annotations

import msgspec

from pytest_tripwire.timeline import Reason


class Trip(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's finding after a call was settled.

    Args:
        reason: which rule.
        count: how many fruitless steps it counts.
        limit: at how many it stops the run.
        evidence: the events that it rests on.
        what: what went on, for the message.
    """

    reason: Reason
    count: int
    limit: int
    evidence: tuple[int, ...]
    what: str

    @property
    def stops(self) -> bool:
        """Whether the run is stopped."""
        return self.count >= self.limit

    @property
    def nudges(self) -> bool:
        """Whether this is the last step before a stop, where a hint may still help."""
        return self.count == self.limit - 1
