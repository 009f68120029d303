"""The tool fails after it has done its work."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class ErrorAfter(On, frozen=True, kw_only=True):
    """The effect happens; the caller gets a `ConnectionError`, which proves nothing."""

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        if not self.hits(nth):
            return None
        error = ConnectionError("connection reset while the answer was read")
        return Plan(raises=error, told="lost")
