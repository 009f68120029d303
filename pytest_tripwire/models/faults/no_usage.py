"""The provider says nothing of what an answer cost."""

from __future__ import annotations

from pytest_tripwire.models.faults.fault import ModelFault
from pytest_tripwire.models.tokens import Usage


class NoUsage(ModelFault, frozen=True, kw_only=True, tag="no_usage"):
    """The response carries no usage: unknown, which is not the same as nothing."""

    turn: int | None = None
    attempts: tuple[int, ...] = ()

    def count(self, usage: Usage | None) -> Usage | None:  # noqa: ARG002 - whatever it was
        """The usage that is reported; None for none."""
        return None
