"""What the tests of the world share: a business on a stage, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_tripwire.timeline import Timeline, WorldEvent
from pytest_tripwire.world import Records, Stage, VirtualClock
from pytest_tripwire.world.desk import open_order
from pytest_tripwire.world.faults import Fault


class World:
    """One paid order, `A-1`, and everything around it."""

    def __init__(self, *faults: Fault) -> None:
        self.clock = VirtualClock()
        self.timeline = Timeline(self.clock.now)
        self.records = Records()
        open_order(self.records, "A-1")
        self.stage = Stage(
            records=self.records,
            clock=self.clock,
            faults=faults,
            events=self.timeline.writer(WorldEvent),
        )

    def told(self) -> Sequence[Any]:
        """All events without their places, which other tests ask about."""
        return self.timeline.of(WorldEvent)


@pytest.fixture
def world() -> Callable[..., World]:
    return World
