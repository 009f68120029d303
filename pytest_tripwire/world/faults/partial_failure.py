"""The work is done, and part of its answer is missing."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.world.faults.plan import On, Plan


class PartialFailure(On, frozen=True, kw_only=True):
    """The result keeps the first half of every list in it and says that it is not all."""

    def plan(self, nth: int) -> Plan | None:
        """What happens to the `nth` call."""
        return Plan(shape=halved) if self.hits(nth) else None


def halved(result: Any) -> Any:
    """`result` with half of every list, marked as partial where it can be."""
    if isinstance(result, list):
        return result[: len(result) // 2]
    if isinstance(result, dict):
        halves = {
            name: value[: len(value) // 2] if isinstance(value, list) else value
            for name, value in result.items()
        }
        return {**halves, "partial": True}
    return result
