"""How long to wait for a moment."""

from __future__ import annotations

import math


def seconds_until(moment: float, now: float) -> float:
    """The least wait after which `moment` has come; 0 when it has. Whoever waits exactly so long
    and looks again is never told to wait for one more rounding error.
    """
    wait = max(0.0, moment - now)
    while wait and now + wait < moment:
        wait = math.nextafter(wait, math.inf)
    return wait
