"""Values of the types that JSON has: the short road, on which C code does the work.

An encoder writes a subclass, an enum or a tuple like the plain value that it resembles, so only
exact types are let in. Whatever else has to be seen to, such as text that is not in Unicode form
NFC, is left to `translate`, which makes a plain value of it.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import countOf, length_hint
from typing import Any, Final, TypeAlias

import msgspec

from pytest_tripwire.breaker.canonical.measure import LARGEST, MEASURED_FROM
from pytest_tripwire.breaker.prune import Names

LEAVES: Final = frozenset({str, int, float, bool, type(None)})
_PLAIN: Final = LEAVES | {dict, list}

#: The mappings and the lists that lie equally deep in a value.
Level: TypeAlias = tuple[list[dict[Any, Any]], list[list[Any]]]
#: The levels of a value, and the floats in it.
Survey: TypeAlias = tuple[list[Level], list[float]]

_encode = msgspec.json.Encoder(order="deterministic").encode
_flat = chain.from_iterable
_values = dict.values


def survey(value: Any) -> Survey | None:
    """What `value` holds; None if it is not plain, or too large. Looked at level by level, so that
    C code does the looking.
    """
    if type(value) in LEAVES:
        return [], [value] if type(value) is float else []
    floats: list[float] = []
    passed: list[Level] = []
    places = 0
    level = _containers([value])
    while any(level) and len(passed) < LARGEST.levels:
        passed.append(level)
        mappings, lists = level
        places += sum(map(len, mappings)) + sum(map(len, lists))
        if places >= MEASURED_FROM and (places > LARGEST.places or _are_shared(level)):
            return None
        found = _types_in(level)
        if found is None:
            return None
        if float in found:
            floats += [part for part in _members(level) if type(part) is float]
        if dict not in found and list not in found:
            small = places < MEASURED_FROM or _text_in(passed) <= LARGEST.text
            return (passed, floats) if small else None
        level = _containers(list(_members(level)))
    return None


def names_within(levels: list[Level], names: Names) -> tuple[frozenset[str], int]:
    """Which of `names` are keys in those levels, and how many levels down the last of them is."""
    found: set[str] = set()
    depth = 0
    for number, (mappings, _) in enumerate(levels, 1):
        here = names.intersection(set().union(*mappings))
        if here:
            found |= here
            depth = number
    return frozenset(found), depth


def _types_in(level: Level) -> set[type] | None:
    """The types in containers; None if one is no plain type, or if one of the keys is no text."""
    mappings, lists = level
    found = set(map(type, _flat(lists))) if lists else set()
    if mappings:
        found.update(map(type, _flat(map(_values, mappings))))
        if countOf(map(type, _flat(mappings)), str) != sum(map(len, mappings)):
            return None
    return found if found <= _PLAIN else None


def encoded(value: Any, floats: list[float], *, whole_numbers: bool = False) -> bytes | None:
    """`value` as JSON with sorted keys; None if that would say too little, or something else.

    Args:
        value: what holds plain values only.
        floats: those in it.
        whole_numbers: whether a float without a fraction is the same as the integer.
    """
    if not all(map(math.isfinite, floats)):
        return None
    if whole_numbers and any(map(float.is_integer, floats)):
        return None
    try:
        raw = _written(value)
    except ValueError:  # half a surrogate pair, or an integer of thousands of digits
        return None
    # No two texts can compose across the quotation marks between them.
    return raw if raw.isascii() or unicodedata.is_normalized("NFC", raw.decode()) else None


def _containers(members: Iterable[Any]) -> Level:
    return (
        [part for part in members if type(part) is dict],
        [part for part in members if type(part) is list],
    )


def _members(level: Level) -> Iterator[Any]:
    mappings, lists = level
    return chain(_flat(map(_values, mappings)), _flat(lists))


def _are_shared(level: Level) -> bool:
    """Whether a container occurs twice: where many do, there are few and each is looked at anew."""
    mappings, lists = level
    return len(set(map(id, chain(mappings, lists)))) != len(mappings) + len(lists)


def _text_in(passed: list[Level]) -> int:
    return sum(sum(map(length_hint, _members(level))) for level in passed)


def _written(value: Any) -> bytes:
    try:
        return _encode(value)
    except RecursionError:
        return _written_from_below(value)


def _written_from_below(value: Any) -> bytes:
    """The same bytes without recursion, for a program that is deep in one of its own."""
    nodes = [value]
    for node in nodes:
        parts = node.values() if type(node) is dict else node
        nodes.extend(part for part in parts if type(part) is dict or type(part) is list)
    done: dict[int, msgspec.Raw] = {}
    for node in reversed(nodes):
        if type(node) is dict:
            shallow: Any = {name: done.get(id(part), part) for name, part in node.items()}
        else:
            shallow = [done.get(id(part), part) for part in node]
        done[id(node)] = msgspec.Raw(_encode(shallow))
    return bytes(done[id(value)])
