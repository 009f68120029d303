"""How large a value is that is made of mappings and lists only, each part counted as often as it
occurs, without being looked at more than once.
"""

from __future__ import annotations

from collections.abc import Collection
from operator import length_hint
from typing import Any, Final, NamedTuple


class Size(NamedTuple):
    """How large a value is.

    Args:
        places: what all its containers hold together.
        levels: of containers.
        text: characters; a container counts as many as it has places.
    """

    places: int
    levels: int
    text: int

    @property
    def is_small(self) -> bool:
        """Whether to encode it in one piece."""
        few = self.places < MEASURED_FROM or self.text <= LARGEST.text
        return few and self.places <= LARGEST.places and self.levels <= LARGEST.levels


#: Lists that share their parts have as many places as they care to, and a text that is held again
#: and again is written as often.
LARGEST: Final = Size(places=1_000_000, levels=64, text=16_000_000)
#: Places from which on text is counted.
MEASURED_FROM: Final = 2048


def size_of(whole: Any) -> Size | None:
    """The size of `whole`; None if it holds itself."""
    sizes: dict[int, Size] = {}
    opened: set[int] = set()
    stack = [whole]
    while stack:
        node = stack[-1]
        if id(node) in sizes:
            stack.pop()
            continue
        parts = node.values() if type(node) is dict else node
        inner = [part for part in parts if type(part) is dict or type(part) is list]
        waiting = [part for part in inner if id(part) not in sizes]
        if not waiting:
            sizes[id(node)] = _sum(parts, [sizes[id(part)] for part in inner])
        elif id(node) in opened:
            return None
        else:
            opened.add(id(node))
            stack += waiting
    return sizes[id(whole)]


def _sum(parts: Collection[Any], inner: list[Size]) -> Size:
    return Size(
        places=len(parts) + sum(size.places for size in inner),
        levels=1 + max((size.levels for size in inner), default=0),
        text=sum(map(length_hint, parts)) + sum(size.text for size in inner),
    )
