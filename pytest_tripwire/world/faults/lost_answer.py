"""The write lands, and its answer never arrives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from pytest_tripwire.world.clock import VirtualClock


class LostAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The effect happens; the caller waits `after_s` seconds and gets a `TimeoutError`.

    Args:
        role: whose tool it is.
        nth: which call of that role, from 1.
        after_s: seconds until the caller gives up.
    """

    role: str
    nth: int = 1
    after_s: float = 30.0
    told: str = "lost"

    def hits(self, nth: int) -> bool:
        """Whether the `nth` call is the one."""
        return nth == self.nth

    def around(self, effect: Callable[[], Any], clock: VirtualClock) -> Any:
        """Run the effect and withhold its result."""
        effect()
        clock.sleep(self.after_s)
        raise TimeoutError(f"no answer within {self.after_s:g} s")
