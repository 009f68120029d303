"""Memory that forgets what was used longest ago: a long run needs no more than a short one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(Generic[K, V]):
    """A mapping of at most `size` entries."""

    __slots__ = ("_entries", "_size")

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value of `key`, None if it is not known."""
        return self._entries.get(key)

    def put(self, key: K, value: V) -> None:
        """Remember `value`; what was put longest ago makes room."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._size:
            self._entries.popitem(last=False)

    def of(self, key: K, make: Callable[[], V]) -> V:
        """The value of `key`, made if it is not known."""
        value = self._entries.get(key)
        if value is None:
            value = make()
        self.put(key, value)
        return value

    def items(self) -> dict[K, V]:
        """All entries as they now are."""
        return dict(self._entries)

    def drop(self, key: K) -> None:
        """Forget `key`, if it is known."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
