"""The tool takes long before it does anything."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class Slow(On, frozen=True, kw_only=True):
    """The effect comes only after `before_s` seconds, and its result right after it."""

    before_s: float

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        return Plan(before_s=self.before_s) if self.hits(nth) else None
