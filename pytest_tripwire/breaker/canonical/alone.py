"""Values that cannot be looked into: each is equal to itself alone."""

from __future__ import annotations

import itertools
import os
import weakref
from typing import Any
from uuid import uuid4

from pytest_tripwire.breaker.canonical.hashing import hashed, name_of


class _Serials:
    """Numbers for values that are equal to themselves alone: an address is used again as soon as
    its value is gone. A value that cannot be followed gets a new number each time.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}

    def of(self, value: Any) -> int:
        mark = id(value)
        known = self._known.get(mark)
        if known is not None and known[0]() is value:
            return known[1]
        try:
            alive = weakref.ref(value, lambda _: self._known.pop(mark, None))
        except TypeError:
            return next(self._numbers)
        return self._known.setdefault(mark, (alive, next(self._numbers)))[1]


_SERIALS = _Serials()
_PROCESS = uuid4().hex


def alone(value: Any) -> bytes:
    """A hash that no other value has, in this process or in any other."""
    serial = f"{_PROCESS}:{os.getpid()}:{_SERIALS.of(value)}"
    return hashed(b"alone" + name_of(type(value)), [serial.encode()])
