"""The tool fails before it has done anything, and says so."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class NotAcceptedError(RuntimeError):
    """The business did not take the request; nothing happened."""


class ErrorBefore(On, frozen=True, kw_only=True):
    """Nothing happens; the caller gets a `NotAcceptedError`, which proves it."""

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        if not self.hits(nth):
            return None
        return Plan(happens=False, raises=NotAcceptedError("the request was not accepted"))
