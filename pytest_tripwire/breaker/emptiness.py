"""Results that say that there is nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COUNTS = ("count", "total", "size", "length", "num", "hits", "matches")


#: Deeper than any result that says nothing; what is nested further says something.
DEEPEST = 32


def is_empty(result: Any, depth: int = DEEPEST) -> bool:
    """Whether a result says that there is nothing: none, false, blank, or all parts empty. A zero
    counts where its field's name says that it counts.
    """
    if result is None or result is False:
        return True
    if isinstance(result, str):
        return not result.strip()
    if isinstance(result, Mapping):
        parts = result.items()
        return depth > 0 and all(_part_is_empty(name, value, depth - 1) for name, value in parts)
    return isinstance(result, list | tuple | set | frozenset) and not result


def _part_is_empty(name: Any, value: Any, depth: int) -> bool:
    counts = value == 0 and isinstance(value, int) and not isinstance(value, bool)
    if counts and isinstance(name, str):
        return any(word in name.lower() for word in _COUNTS)
    return is_empty(value, depth)
