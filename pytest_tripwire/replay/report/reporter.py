"""The one shape that every report has."""

from __future__ import annotations

from typing import Protocol

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.summary import Summary


class Report(Protocol):
    """Writes what comes of a replay as it comes."""

    def add(self, item: Replayed | Problem) -> None:
        """Write about one trace, or keep what is said at the end."""
        ...

    def finish(self, summary: Summary) -> None:
        """Write what is said at the end. Without it the report is still well formed on `close`."""
        ...

    def close(self) -> None:
        """End the report, also where the replay was broken off."""
        ...
