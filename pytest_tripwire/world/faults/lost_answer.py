"""The write lands, and its answer never arrives."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class LostAnswer(On, frozen=True, kw_only=True):
    """The effect happens; the caller waits `after_s` seconds and gets a `TimeoutError`."""

    after_s: float = 30.0

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        if not self.hits(nth):
            return None
        error = TimeoutError(f"no answer within {self.after_s:g} s")
        return Plan(after_s=self.after_s, raises=error, told="lost")
