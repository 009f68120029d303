"""The service is asked too often and says when to come back."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class RateLimitedError(RuntimeError):
    """The service did not accept the request; nothing happened.

    Args:
        retry_after: seconds until it will.
    """

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"429: not accepted, retry after {retry_after:g} s")


class RateLimit(On, frozen=True, kw_only=True):
    """Nothing happens; the caller gets a `RateLimitedError`."""

    retry_after: float = 1.0

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        if not self.hits(nth):
            return None
        return Plan(happens=False, raises=RateLimitedError(self.retry_after))
