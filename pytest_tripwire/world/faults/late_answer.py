"""The write lands at once, and its answer takes its time."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class LateAnswer(On, frozen=True, kw_only=True):
    """The effect happens; its true result arrives `after_s` seconds later."""

    after_s: float

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        return Plan(after_s=self.after_s) if self.hits(nth) else None
