"""Leaving named keys out of nested values, without copying what stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from operator import is_
from typing import Any, Final, Protocol

#: Levels that are looked into, as deep as a person would write.
DEPTH: Final = 8

_LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_MOST_KNOWN: Final = 4096


class Names(Protocol):
    """Names of keys. A frozenset is one, and so is `NamesBy`."""

    def isdisjoint(self, other: Iterable[Any], /) -> bool:
        """Whether none of the others is one of these."""

    def intersection(self, other: Iterable[Any], /) -> AbstractSet[Any]:
        """Those of the others that are."""


class NamesBy:
    """Names by what a function says of each. It is asked once for each text, as far as they are
    remembered; keys that are no text are none of these names.

    Args:
        is_one: whether a name is one of these. Has to give one answer for one name.
    """

    def __init__(self, is_one: Callable[[str], bool]) -> None:
        self._is_one = is_one
        self._known: dict[str, bool] = {}

    def isdisjoint(self, other: Iterable[Any], /) -> bool:
        """Whether none of the others is one of these."""
        return not any(map(self._has, other))

    def intersection(self, other: Iterable[Any], /) -> AbstractSet[Any]:
        """Those of the others that are."""
        return set(filter(self._has, other))

    def _has(self, name: Any) -> bool:
        if type(name) is not str:
            return isinstance(name, str) and self._is_one(str(name))
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[name] = self._is_one(name)
        return known


def prune(value: Any, names: Names, depth: int = DEPTH) -> Any:
    """`value` without the keys in `names`. What holds none of them is returned itself, also where
    it is part of something that does. Never raises for odd values: what cannot be looked into is
    returned as it is.

    Args:
        value: anything; mappings of any kind, lists and tuples are looked into, but no subclasses
            of list and tuple, which may mean more than their parts.
        names: keys to leave out.
        depth: levels of containers that are looked into.
    """
    return _Pruning(names).of(value, depth)


def kept(parts: dict[Any, Any], names: Names) -> dict[Any, Any]:
    """`parts` without the keys in `names`, not looked into any further; itself if it has none."""
    try:
        if names.isdisjoint(parts):
            return parts
        left = parts.copy()
        for name in names.intersection(parts):
            del left[name]
    except Exception:  # noqa: BLE001 - a key that compares itself may raise anything
        return parts
    return left


class _Pruning:
    """One pruning. What is shared is looked into once for each level that it stands on."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._done: dict[tuple[int, int], Any] = {}
        self._keep: list[Any] = []

    def of(self, value: Any, depth: int) -> Any:
        """`value` without those names, `depth` levels down."""
        kind = type(value)
        if kind in _LEAVES or depth <= 0:
            return value
        if kind is dict and depth == 1:
            return kept(value, self._names)
        parts = value if kind is dict or kind is list or kind is tuple else _parts_of(value)
        return value if parts is None else self._once(value, parts, depth)

    def _once(self, value: Any, parts: Any, depth: int) -> Any:
        mark = (id(value), depth)
        if mark not in self._done:
            self._keep.append(value)
            inside = self._mapping if type(parts) is dict else self._sequence
            pruned = inside(parts, depth - 1)
            self._done[mark] = value if pruned is parts else pruned
        return self._done[mark]

    def _mapping(self, parts: dict[Any, Any], depth: int) -> dict[Any, Any]:
        left = kept(parts, self._names)
        changed = {}
        for name, part in list(left.items()):
            if type(part) not in _LEAVES:
                pruned = self.of(part, depth)
                if pruned is not part:
                    changed[name] = pruned
        return {**left, **changed} if changed else left

    def _sequence(self, parts: list[Any] | tuple[Any, ...], depth: int) -> Any:
        pruned = [part if type(part) in _LEAVES else self.of(part, depth) for part in parts]
        return parts if all(map(is_, pruned, parts)) else type(parts)(pruned)


def _parts_of(value: Any) -> dict[Any, Any] | None:
    """A copy of a mapping of any kind; None for everything else."""
    try:
        return dict(value.items()) if isinstance(value, Mapping) else None
    except Exception:  # noqa: BLE001 - a subclass may raise anything when it is looked into
        return None
