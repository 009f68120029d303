"""The business that agents act on. Its file is the only evidence of what was done to it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

#: Seconds after which the breaker may take an effect that does not show for one that never will.
LATE_S = 30.0
#: Seconds after which a late effect shows.
SHOWS_S = 29.0


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the business has seen.

    Args:
        what: `asked`, `mutated`, `known` (by its key, so not done again), `read`, or `stopped`, of
            a run whose interruption was told to somebody.
        life: name of the worker's life.
        at: seconds on the clock of that life.
        order: what it was about.
        key: idempotency key that came with it.
        id: what was made, or is shown.
        shows_at: when a read begins to show it.
    """

    what: str
    life: str
    at: float
    order: str
    key: str = ""
    id: str | None = None
    shows_at: float = 0.0


def lines_of(path: Path) -> list[Line]:
    if not path.exists():
        return []
    return [msgspec.json.decode(line, type=Line) for line in path.read_bytes().splitlines()]


class World:
    """Payments, as the workers of all lives see them.

    Args:
        path: the file.
        life: who is asking.
        now: seconds.
        manner: `prompt`, `late` (an effect shows late), `lost_answer` (the first answer of each
            order is lost), `lost_request` (the first request of each order never arrives), or
            `keyed` (what comes with a known key is not done again).
    """

    def __init__(self, path: Path, life: str, now: Callable[[], float], manner: str) -> None:
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._life = life
        self._now = now
        self._manner = manner

    def pay(self, order: str, key: str = "") -> dict[str, Any]:
        first = not self._told("asked", order)
        self._tell("asked", order, key=key)
        if first and self._manner == "lost_request":
            raise TimeoutError
        made = self.mutate(order, key)
        if first and self._manner == "lost_answer":
            raise TimeoutError
        return {"order": order, "id": made}

    def mutate(self, order: str, key: str) -> str:
        same = [each for each in self._told("mutated", order) if each.key == key]
        if same and self._manner == "keyed":
            self._tell("known", order, key=key, id=same[0].id)
            return str(same[0].id)
        made = f"P-{order}-{self._life}"
        late = SHOWS_S if self._manner == "late" else 0.0
        self._tell("mutated", order, key=key, id=made, shows_at=self._now() + late)
        return made

    def look(self, order: str) -> dict[str, Any]:
        shown = [each.id for each in self._told("mutated", order) if each.shows_at <= self._now()]
        made = shown[0] if shown else None
        self._tell("read", order, id=made)
        return {"order": order, "id": made}

    def stopped(self, order: str) -> None:
        """Somebody was told that the run is interrupted, before this order."""
        self._tell("stopped", order)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _told(self, what: str, order: str) -> list[Line]:
        return [each for each in lines_of(self._path) if (each.what, each.order) == (what, order)]

    def _tell(self, what: str, order: str, **more: Any) -> None:
        line = Line(what=what, life=self._life, at=self._now(), order=order, **more)
        # One call of the system each, so that the lines of several workers do not mix.
        os.write(self._file, json.dumps(msgspec.to_builtins(line)).encode() + b"\n")
        os.fsync(self._file)
