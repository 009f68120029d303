"""What a fault is: something laid over a tool, that the tool does not know of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from pytest_tripwire.world.clock import VirtualClock


class Fault(Protocol):
    """Misbehaviour of one role's tool at one of its calls."""

    @property
    def role(self) -> str:
        """The role whose tool misbehaves."""

    @property
    def told(self) -> str:
        """How the delivery is marked when the fault raises, e.g. `lost`."""

    def hits(self, nth: int) -> bool:
        """Whether the `nth` call of the role, counted from 1, is the one."""

    def around(self, effect: Callable[[], Any], clock: VirtualClock) -> Any:
        """Run `effect` or not, and return or raise what the caller is told."""
