"""A digest of any value that does not depend on order, identity or process.

Every value has a defined result: types stay apart (`1`, `True`, `"1"` and `1.0` are four values),
mappings and sets do not depend on order, text is compared in Unicode form NFC, a cycle is encoded
as the distance to where it closes. A value that cannot be looked into is equal to itself alone:
it never collides silently. Nothing here recurses, so depth is bounded by memory only.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import itertools
import os
import sys
import unicodedata
import weakref
from collections.abc import Callable, Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from decimal import Decimal
from enum import Enum
from hashlib import blake2b
from pathlib import PurePath
from types import BuiltinMethodType, MethodType
from typing import Any, TypeAlias
from uuid import UUID, uuid4

import msgspec

Steps: TypeAlias = Generator[Any, bytes, bytes]
_SIZE = 16

#: A part that lies on a cycle has to be walked anew on each path that leads to it, and objects
#: that all know each other have endless paths. Past so many, the whole is equal to itself alone.
_MOST_CYCLES = 20_000


def digest(value: Any) -> str:
    """The canonical digest of `value` as 32 hexadecimal digits. Never raises for odd values."""
    return _Encoder().run(value).hex()


class _Encoder:
    """One walk over one value: what is open above the current node, and what is done already."""

    def __init__(self) -> None:
        self._open: dict[int, int] = {}
        self._done: dict[int, bytes] = {}
        self._keep: list[Any] = []
        self._cycles = 0

    def run(self, value: Any) -> bytes:
        stack = [self._node(value)]
        result: bytes | None = None
        while True:
            try:
                child = next(stack[-1]) if result is None else stack[-1].send(result)
            except StopIteration as done:
                stack.pop()
                whole: bytes = done.value
                result = whole
                if not stack:
                    return whole
            else:
                if self._cycles > _MOST_CYCLES:
                    return _alone(value)
                stack.append(self._node(child))
                result = None

    def _node(self, value: Any) -> Steps:
        try:
            leaf = _leaf(value)
        except Exception:  # noqa: BLE001 - a subclass may raise anything when it is looked into
            leaf = _alone(value)
        if leaf is not None:
            return leaf
        mark = id(value)
        if mark in self._open:
            self._cycles += 1
            return _hash(b"cycle", [str(len(self._open) - self._open[mark]).encode()])
        if mark in self._done:
            return self._done[mark]
        return (yield from self._container(value, mark))

    def _container(self, value: Any, mark: int) -> Steps:
        self._open[mark] = len(self._open)
        cycles = self._cycles
        try:
            result = yield from self._children(value)
        except Exception:  # noqa: BLE001 - a hostile container may raise anything
            result = _alone(value)
        del self._open[mark]
        if cycles == self._cycles:
            self._done[mark] = result
            self._keep.append(value)
        return result

    def _children(self, value: Any) -> Steps:
        if isinstance(value, Mapping):
            return (yield from _sorted_pairs(value.items(), b"map"))
        if isinstance(value, AbstractSet):
            return (yield from _each(list(value), b"set", sort=True))
        if isinstance(value, list | tuple):
            return (yield from _each(value, _name(type(value))))
        fields = _fields(value)
        if fields is not None:
            return (yield from _sorted_pairs(fields.items(), _name(type(value))))
        return (yield from _opaque(value))


def _each(items: Iterable[Any], tag: bytes, *, sort: bool = False) -> Steps:
    parts = []
    for item in items:
        part = yield item
        parts.append(part)
    return _hash(tag, sorted(parts) if sort else parts)


def _sorted_pairs(items: Iterable[tuple[Any, Any]], tag: bytes) -> Steps:
    pairs = []
    for key, item in list(items):
        pair = (yield key) + (yield item)
        pairs.append(pair)
    return _hash(tag, sorted(pairs))


def _opaque(value: Any) -> Steps:
    """A value of no known kind: by how it would be rebuilt, else equal to itself alone."""
    buffer = _buffer(value)
    if buffer is not None:
        return _hash(_name(type(value)), buffer)
    parts = value.__reduce_ex__(4)
    if isinstance(parts, str):
        return _hash(b"global", [_name(type(value)), _text(parts)])
    if not isinstance(parts, tuple) or not _tells_apart(parts):
        return _alone(value)
    return (yield from _each(parts[:3], b"object" + _name(type(value))))


def _buffer(value: Any) -> tuple[bytes, bytes] | None:
    """Layout and contents of an array. Arrays of objects hold addresses, which tell nothing."""
    try:
        view = memoryview(value)
        layout = f"{view.format}{view.shape}"
        return None if "O" in layout or _attributes(value) else (layout.encode(), view.tobytes())
    except (TypeError, ValueError, BufferError):
        return None


def _tells_apart(parts: tuple[Any, ...]) -> bool:
    """Whether a reduction holds more than the type, and all of it in its first three parts."""
    state = parts[2] if len(parts) > 2 else None  # noqa: PLR2004 - (callable, arguments, state)
    whole = not any(hasattr(part, "__next__") for part in parts[3:])
    return whole and (state is not None or any(_says_something(part) for part in parts[1]))


def _says_something(argument: Any) -> bool:
    return not (isinstance(argument, type) or (isinstance(argument, tuple | dict) and not argument))


def _attributes(value: Any) -> Mapping[str, Any]:
    """What an instance carries besides its value, such as the currency of an `int`."""
    return getattr(value, "__dict__", None) or {}


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


def _alone(value: Any) -> bytes:
    serial = f"{_PROCESS}:{os.getpid()}:{_SERIALS.of(value)}"
    return _hash(b"alone" + _name(type(value)), [serial.encode()])


def _fields(value: Any) -> dict[str, Any] | None:
    """The declared fields of a dataclass, a msgspec Struct or a pydantic model."""
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        names: Iterable[str] = [field.name for field in dataclasses.fields(kind)]
    elif isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
    elif isinstance(getattr(kind, "model_fields", None), Mapping):
        names = [*kind.model_fields, *(getattr(value, "__pydantic_extra__", None) or ())]
    else:
        return None
    return {name: getattr(value, name, None) for name in names}


def _leaf(value: Any) -> bytes | None:
    """The digest of a value without parts; None for everything else."""
    kind = type(value)
    if isinstance(value, Enum):
        # A combination of flags may have no name.
        member = value.name or str(value.value)
        return _hash(b"enum" + _name(kind), [member.encode("utf-8", "surrogatepass")])
    encode = _LEAVES.get(kind)
    if encode is not None:
        return _hash(kind.__name__.encode(), [encode(value)])
    if isinstance(value, PurePath):
        return _hash(b"path", [_text(str(value))])
    if isinstance(value, type) or (callable(value) and hasattr(value, "__qualname__")):
        return _hash(b"name", [_name(value)]) if _importable(value) else _alone(value)
    for base, encoded in _LEAVES.items():
        if base is not type(None) and isinstance(value, base) and not _attributes(value):
            return _hash(_name(kind), [encoded(value)])
    return None


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


def _text(value: str) -> bytes:
    return unicodedata.normalize("NFC", value).encode("utf-8", "surrogatepass")


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
    str: _text,
    bytes: bytes,
    bytearray: bytes,
    Decimal: _decimal,
    UUID: lambda value: value.bytes,
    dt.datetime: _moment,
    dt.date: lambda value: value.isoformat().encode(),
    dt.time: lambda value: value.isoformat().encode(),
    dt.timedelta: lambda value: f"{value.days},{value.seconds},{value.microseconds}".encode(),
}


def _name(kind: Any) -> bytes:
    module = getattr(kind, "__module__", None) or ""
    return _text(f"{module}.{getattr(kind, '__qualname__', '')}")


def _hash(tag: bytes, parts: Iterable[bytes]) -> bytes:
    state = blake2b(digest_size=_SIZE)
    for part in (tag, *parts):
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()
