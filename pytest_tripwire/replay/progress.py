"""A bar on standard error, while a person watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

#: Seconds between two pictures.
PERIOD_S = 0.1
_WIDTH = 24
#: Back to the start of the line, and clear it.
_CLEAR = "\r\x1b[2K"


class Screen(Protocol):
    """What a bar is drawn on."""

    def write(self, text: str, /) -> object:
        """Draw."""
        ...

    def flush(self) -> object:
        """Show what was drawn."""
        ...


class Progress:
    """Draws how far a replay is, ten times a second at most.

    Args:
        screen: where to draw; None for nowhere.
        clock: seconds, from any beginning.
        total: bytes that there are to read, 0 if that is unknown.
    """

    def __init__(self, screen: Screen | None, clock: Callable[[], float], total: int) -> None:
        self._screen = screen
        self._clock = clock
        self._total = total
        self._begun = clock()
        self._drawn = self._begun  # a replay that is over at once needs no bar
        self._shown = False
        self._bytes = 0
        self._traces = 0
        self._steps = 0

    def read(self, count: int) -> None:
        """So many more bytes were read."""
        self._bytes += count
        self._draw()

    def replayed(self, steps: int) -> None:
        """One more trace was replayed."""
        self._traces += 1
        self._steps += steps
        self._draw()

    def clear(self) -> None:
        """Make room for a line of the report, or for the prompt."""
        if self._shown and self._screen is not None:
            self._screen.write(_CLEAR)
            self._screen.flush()
            self._shown = False

    def _draw(self) -> None:
        if self._screen is None:
            return
        now = self._clock()
        if now - self._drawn < PERIOD_S:
            return
        self._drawn = now
        self._shown = True
        self._screen.write(_CLEAR + self._picture(now - self._begun))
        self._screen.flush()

    def _picture(self, seconds: float) -> str:
        rate = self._steps / seconds if seconds > 0 else 0.0
        counts = f"{self._traces:,} traces, {self._steps:,} steps, {rate:,.0f} steps/s"
        if not self._total:
            return f"{self._bytes / 2**20:,.1f} MiB  {counts}"
        share = min(1.0, self._bytes / self._total)
        done = round(share * _WIDTH)
        return f"[{'#' * done}{'.' * (_WIDTH - done)}] {share:4.0%}  {counts}"
