"""A read that answers with what was true before."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class StaleRead(On, frozen=True, kw_only=True):
    """The caller is told what the first read of the record said."""

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        return Plan(stale=True) if self.hits(nth) else None
