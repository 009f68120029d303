"""How an agent stands on a case, as the gate counts it."""

from __future__ import annotations

from enum import StrEnum


class Standing(StrEnum):
    """A cell's state, and what the baseline makes of it."""

    CONTAINED = "contained"
    #: The project declares that the agent has no such part.
    NOT_APPLICABLE = "not applicable"
    #: It is not contained, and the baseline says so.
    KNOWN_FAILING = "known failing"
    NOT_RUN = "not run"
    #: The baseline says that it fails, and it does not.
    FIXED = "fixed"
    #: The baseline says that it fails, and the day until which it may has passed.
    EXPIRED = "expired"
    INCONCLUSIVE = "inconclusive"
    ESCAPED = "escaped"

    @property
    def passes(self) -> bool:
        """Whether the gate lets it by."""
        return self in _PASSING

    @property
    def weight(self) -> int:
        """From good to bad: reports show the worst first."""
        return _ORDER.index(self)


_ORDER = tuple(Standing)
_PASSING = frozenset({Standing.CONTAINED, Standing.NOT_APPLICABLE, Standing.KNOWN_FAILING})
