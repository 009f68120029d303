"""A search that finds nothing, whatever is there."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.world.faults.plan import On, Plan


class Empty(On, frozen=True, kw_only=True):
    """The result keeps its shape and loses its contents."""

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        return Plan(shape=emptied, empty=True) if self.hits(nth) else None


def emptied(result: Any) -> Any:
    """`result` with every list in it emptied; a bare list gives an empty one."""
    if isinstance(result, dict):
        return {name: [] if isinstance(value, list) else value for name, value in result.items()}
    return [] if isinstance(result, list) else None
