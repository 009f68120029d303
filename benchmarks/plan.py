"""How much to run."""

from __future__ import annotations

import msgspec


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much to run.

    Args:
        quick: whether to see only that it runs.
    """

    quick: bool = False

    @property
    def rounds(self) -> int:
        """Rounds in which subjects take turns."""
        return 3 if self.quick else 25

    @property
    def calls(self) -> int:
        """Calls of a tool in one round."""
        return 50 if self.quick else 1_000
