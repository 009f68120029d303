"""A value with odd parts, made into one that the short road takes."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from pytest_tripwire.breaker.canonical.leaves import LEAF_TYPES, leaf, leaf_of
from pytest_tripwire.breaker.canonical.measure import LARGEST, MEASURED_FROM, size_of
from pytest_tripwire.breaker.canonical.walk import Walk

#: What a list begins with that stands for a tuple. No text in JSON looks like it.
TUPLE: Final = msgspec.Raw(b"!tuple")

_SIMPLE: Final = frozenset({int, bool, type(None)})


def odd(hashed: bytes) -> msgspec.Raw:
    """What stands for a value that JSON does not have. No text in JSON looks like it."""
    return msgspec.Raw(b"!" + hashed.hex().encode())


class Translation:
    """One translation. What is shared stays shared, and a cycle stays one.

    Args:
        whole_numbers: whether a float without a fraction is the same as the integer.
    """

    def __init__(self, *, whole_numbers: bool) -> None:
        self._whole_numbers = whole_numbers
        self._walk: Walk | None = None
        self._made: dict[int, Any] = {}
        self._keep: list[Any] = []
        self._copies: list[Any] = []
        self._shared = False

    def of(self, value: Any) -> Any | None:
        """`value` as mappings with text for keys, lists, simple values and what stands for others.
        None if an odd part of it is part of a cycle, as that part means nothing by itself.
        """
        whole = self._part(value)
        for made in self._copies:  # grows on the way
            if type(made) is dict:
                made.update((name, self._part(part)) for name, part in list(made.items()))
            else:
                made[:] = map(self._part, made)
        return None if self._walk is not None and self._walk.cycles else whole

    def is_small(self, made: Any) -> bool:
        """Whether to encode what was made in one piece."""
        places = sum(map(len, self._copies))
        few = len(self._copies) <= LARGEST.levels and places < MEASURED_FROM
        if few and not self._shared:
            return True
        size = size_of(made)
        return size is not None and size.is_small

    def _part(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return _text(value)
        if kind in _SIMPLE or value is TUPLE:
            return value
        if kind is float and math.isfinite(value):
            return int(value) if self._whole_numbers and value.is_integer() else value
        if kind in LEAF_TYPES:
            return odd(leaf(value))
        mark = id(value)
        if mark in self._made:
            self._shared = True
            return self._made[mark]
        made = self._container(value)
        self._keep.append(value)
        self._made[mark] = self._odd(value) if made is None else made
        return self._made[mark]

    def _odd(self, value: Any) -> msgspec.Raw:
        if self._walk is None:
            self._walk = Walk(whole_numbers=self._whole_numbers)
        return odd(self._walk.over(value))

    def _container(self, value: Any) -> list[Any] | dict[str, Any] | None:
        made: list[Any] | dict[str, Any] | None
        if type(value) is list:
            made = value.copy()
        elif type(value) is tuple:
            made = [TUPLE, *value]
        else:
            made = _mapping(value)
        if made is not None:
            self._copies.append(made)
        return made


def _mapping(value: Any) -> dict[str, Any] | None:
    """A copy of a mapping; None if it is none, or if its keys are not all different texts."""
    try:
        if type(value) is not dict and (not isinstance(value, Mapping) or leaf_of(value)):
            return None
        items = list(value.items())
        made = {_text(name): part for name, part in items if type(name) is str}
    except Exception:  # noqa: BLE001 - a subclass may raise anything when it is looked into
        return None
    return made if len(made) == len(items) else None


def _text(value: str) -> str:
    return value if value.isascii() else unicodedata.normalize("NFC", value)
