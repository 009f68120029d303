"""A walk over any value at all: the long road, which knows every type and never recurses."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.breaker.canonical.alone import alone
from pytest_tripwire.breaker.canonical.hashing import hashed, name_of, text_of
from pytest_tripwire.breaker.canonical.leaves import attributes, leaf_of

Steps: TypeAlias = Generator[Any, bytes, bytes]

#: A part that lies on a cycle has to be walked anew on each path that leads to it, and objects
#: that all know each other have endless paths. Past so many, the whole is equal to itself alone.
_MOST_CYCLES = 20_000
#: Characters from which on a text that occurs again is not looked at again.
_LONG = 1_000


class Walk:
    """One walk over one value or several: what is open above the current node, what is done.

    Args:
        whole_numbers: whether a float without a fraction is the same as the integer.
    """

    def __init__(self, *, whole_numbers: bool = False) -> None:
        self.cycles = 0
        self._whole_numbers = whole_numbers
        self._open: dict[int, int] = {}
        self._done: dict[int, bytes] = {}
        self._keep: list[Any] = []

    def over(self, value: Any) -> bytes:
        """The hash of `value`. One that lies on a cycle adds to `cycles`."""
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
                if self.cycles > _MOST_CYCLES:
                    return alone(value)
                stack.append(self._node(child))
                result = None

    def _node(self, value: Any) -> Steps:
        mark = id(value)
        if mark in self._done:
            return self._done[mark]
        leaf = self._leaf(value)
        if leaf is not None:
            if type(value) is str and len(value) > _LONG:
                self._remember(value, leaf)
            return leaf
        if mark in self._open:
            self.cycles += 1
            return hashed(b"cycle", [str(len(self._open) - self._open[mark]).encode()])
        return (yield from self._container(value, mark))

    def _leaf(self, value: Any) -> bytes | None:
        if self._whole_numbers and type(value) is float and value.is_integer():
            value = int(value)
        try:
            return leaf_of(value)
        except Exception:  # noqa: BLE001 - a subclass may raise anything when it is looked into
            return alone(value)

    def _container(self, value: Any, mark: int) -> Steps:
        self._open[mark] = len(self._open)
        cycles = self.cycles
        try:
            result = yield from _children(value)
        except Exception:  # noqa: BLE001 - a hostile container may raise anything
            result = alone(value)
        del self._open[mark]
        if cycles == self.cycles:
            self._remember(value, result)
        return result

    def _remember(self, value: Any, result: bytes) -> None:
        self._done[id(value)] = result
        self._keep.append(value)


def _children(value: Any) -> Steps:
    if isinstance(value, Mapping):
        return (yield from _sorted_pairs(value.items(), b"map"))
    if isinstance(value, AbstractSet):
        return (yield from _each(list(value), b"set", sort=True))
    if isinstance(value, list | tuple):
        return (yield from _each(value, name_of(type(value))))
    fields = _fields(value)
    if fields is not None:
        return (yield from _sorted_pairs(fields.items(), name_of(type(value))))
    return (yield from _opaque(value))


def _each(items: Iterable[Any], tag: bytes, *, sort: bool = False) -> Steps:
    parts = []
    for item in items:
        part = yield item
        parts.append(part)
    return hashed(tag, sorted(parts) if sort else parts)


def _sorted_pairs(items: Iterable[tuple[Any, Any]], tag: bytes) -> Steps:
    pairs = []
    for key, item in list(items):
        pair = (yield key) + (yield item)
        pairs.append(pair)
    return hashed(tag, sorted(pairs))


def _opaque(value: Any) -> Steps:
    """A value of no known kind: by how it would be rebuilt, else equal to itself alone."""
    buffer = _buffer(value)
    if buffer is not None:
        return hashed(name_of(type(value)), buffer)
    parts = value.__reduce_ex__(4)
    if isinstance(parts, str):
        return hashed(b"global", [name_of(type(value)), text_of(parts)])
    if not isinstance(parts, tuple) or not _tells_apart(parts):
        return alone(value)
    return (yield from _each(parts[:3], b"object" + name_of(type(value))))


def _buffer(value: Any) -> tuple[bytes, bytes] | None:
    """Layout and contents of an array. Arrays of objects hold addresses, which tell nothing."""
    try:
        view = memoryview(value)
        layout = f"{view.format}{view.shape}"
        return None if "O" in layout or attributes(value) else (layout.encode(), view.tobytes())
    except (TypeError, ValueError, BufferError):
        return None


def _tells_apart(parts: tuple[Any, ...]) -> bool:
    """Whether a reduction holds more than the type, and all of it in its first three parts."""
    state = parts[2] if len(parts) > 2 else None  # noqa: PLR2004 - (callable, arguments, state)
    whole = not any(hasattr(part, "__next__") for part in parts[3:])
    return whole and (state is not None or any(_says_something(part) for part in parts[1]))


def _says_something(argument: Any) -> bool:
    return not (isinstance(argument, type) or (isinstance(argument, tuple | dict) and not argument))


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
