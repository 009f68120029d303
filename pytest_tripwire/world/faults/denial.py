"""Policy says no, by a rule."""

from __future__ import annotations

from pytest_tripwire.world.faults.plan import On, Plan


class PolicyDeniedError(PermissionError):
    """A rule of the business forbids the call; nothing happened.

    Args:
        rule: the rule's id.
    """

    def __init__(self, rule: str) -> None:
        self.rule = rule
        super().__init__(f"denied by policy: rule {rule}")


class Denial(On, frozen=True, kw_only=True):
    """Nothing happens; the caller gets a `PolicyDeniedError` that names the rule."""

    rule: str

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        if not self.hits(nth):
            return None
        return Plan(happens=False, raises=PolicyDeniedError(self.rule), told="denied")
