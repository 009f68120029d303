"""Values without parts: numbers, text, bytes, moments, members of enums, names."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import BuiltinMethodType, MethodType
from typing import Any
from uuid import UUID

from pytest_tripwire.breaker.canonical.alone import alone
from pytest_tripwire.breaker.canonical.hashing import hashed, name_of, text_of


def leaf_of(value: Any) -> bytes | None:
    """The hash of a value without parts; None for everything else."""
    kind = type(value)
    if isinstance(value, Enum):
        # A combination of flags may have no name.
        member = value.name or str(value.value)
        return hashed(b"enum" + name_of(kind), [member.encode("utf-8", "surrogatepass")])
    if kind in LEAF_TYPES:
        return leaf(value)
    if isinstance(value, PurePath):
        return hashed(b"path", [text_of(str(value))])
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return hashed(b"name", [name_of(value)]) if _importable(value) else alone(value)
    for base, encoded in _LEAVES.items():
        if base is not type(None) and isinstance(value, base) and not attributes(value):
            return hashed(name_of(kind), [encoded(value)])
    return None


def leaf(value: Any) -> bytes:
    """The hash of a value that is one of `LEAF_TYPES`."""
    kind = type(value)
    return hashed(kind.__name__.encode(), [_LEAVES[kind](value)])


def attributes(value: Any) -> Mapping[str, Any]:
    """What an instance carries besides its value, such as the currency of an `int`."""
    return getattr(value, "__dict__", None) or {}


def _importable(value: Any) -> bool:
    """Whether a name is all there is to a class or function: that of a closure or of a bound method
    says nothing of what it closes over or is bound to.
    """
    if isinstance(value, type):
        return True
    found: Any = sys.modules.get(value.__module__)
    for part in value.__qualname__.split("."):
        found = getattr(found, part, None)
    bound = isinstance(value, BuiltinMethodType | MethodType)
    return found is value or (bound and bool(found == value))


_FIRST = dt.datetime(1, 1, 1)  # noqa: DTZ001 - counted from, never compared with an instant


def _moment(value: dt.datetime) -> bytes:
    offset = value.utcoffset()
    if offset is None:
        return value.isoformat().encode()
    try:
        return value.astimezone(dt.UTC).isoformat().encode()
    except OverflowError:
        return f"{value.replace(tzinfo=None) - _FIRST - offset}".encode()


def _decimal(value: Decimal) -> bytes:
    if not value.is_finite():
        return str(value).encode()
    sign, digits, exponent = value.as_tuple()
    kept = "".join(map(str, digits)).lstrip("0")
    trimmed = kept.rstrip("0")
    if not trimmed:
        return b"0"
    return f"{sign}:{trimmed}:{int(exponent) + len(kept) - len(trimmed)}".encode()


def _float(value: float) -> bytes:
    return b"nan" if value != value else value.hex().encode()  # noqa: PLR0124 - the test for NaN


_LEAVES: dict[type, Callable[[Any], bytes]] = {
    type(None): lambda _: b"",
    bool: lambda value: b"1" if value else b"0",
    int: lambda value: hex(value).encode(),
    float: _float,
    complex: lambda value: _float(value.real) + b"," + _float(value.imag),
    str: text_of,
    bytes: bytes,
    bytearray: bytes,
    Decimal: _decimal,
    UUID: lambda value: value.bytes,
    dt.datetime: _moment,
    dt.date: lambda value: value.isoformat().encode(),
    dt.time: lambda value: value.isoformat().encode(),
    dt.timedelta: lambda value: f"{value.days},{value.seconds},{value.microseconds}".encode(),
}

#: Types whose values have no parts, and no subclass of which is meant.
LEAF_TYPES = frozenset(_LEAVES)
