"""Server-sent events, as the HTML standard defines them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

#: Characters of a text that go out in one event: enough to cut words and JSON in two.
PIECE = 12


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """One event: its data in one line, and its type where the protocol gives one."""

    data: str
    event: str = ""

    def encode(self) -> bytes:
        """The event as it goes out."""
        head = f"event: {self.event}\n" if self.event else ""
        return f"{head}data: {self.data}\n\n".encode()


def event(body: dict[str, Any], kind: str = "") -> Event:
    """An event whose data is JSON."""
    return Event(data=msgspec.json.encode(body).decode(), event=kind)


def pieces(text: str) -> Iterator[str]:
    """A text in small pieces; nothing for an empty one."""
    for start in range(0, len(text), PIECE):
        yield text[start : start + PIECE]
