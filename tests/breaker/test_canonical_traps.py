"""What common encoders get wrong, found by measuring them: values that they write alike, and values
that they fail on. Each has a defined result, wherever it stands.
"""

from __future__ import annotations

import array
import datetime as dt
import math
import types
import uuid
from collections import OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any

import msgspec
import pytest

from pytest_tripwire.breaker.canonical import digest


class Color(Enum):
    RED = "red"


class Word(StrEnum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Tag(str):
    __slots__ = ()


class Count(int): ...


class Ratio(float): ...


class Basket(list[Any]): ...


class Row(tuple[Any, ...]):
    __slots__ = ()


@dataclass
class Point:
    x: int


class Packed(msgspec.Struct):
    x: int


class Tagged(msgspec.Struct, tag="tagged"):
    x: int


Pair = namedtuple("Pair", "x y")  # noqa: PYI024 - the untyped kind is one to tell apart as well
NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
ID = uuid.UUID(int=5)
NAN = float("nan")

#: One encoder or another writes these alike without a word.
MERGED = {
    "nothing and not a number": (None, NAN),
    "nothing and infinity": (None, math.inf),
    "nothing and minus infinity": (None, -math.inf),
    "infinity and minus infinity": (math.inf, -math.inf),
    "one and one as a float": (1, 1.0),
    "one and true": (1, True),
    "zero and minus zero": (0.0, -0.0),
    "zero and minus zero of other types": (0, -0.0),
    "integers past a double": (2**53, 2**53 + 1),
    "integers past 64 bits and their double": (2**64, float(2**64)),
    "bytes and their text": (b"a", "a"),
    "bytes and base 64": (b"a", "YQ=="),
    "bytes and bytearray": (b"a", bytearray(b"a")),
    "bytes and a view of them": (b"a", memoryview(b"a")),
    "set and list": ({1, 2}, [1, 2]),
    "frozenset and tuple": (frozenset({1}), (1,)),
    "list and tuple": ([1], (1,)),
    "empty list and empty tuple": ([], ()),
    "empty list and empty mapping": ([], {}),
    "empty list and nothing": ([], None),
    "named tuple and tuple": (Pair(1, 2), (1, 2)),
    "named tuple and list": (Pair(1, 2), [1, 2]),
    "decimal and its text": (Decimal("1.5"), "1.5"),
    "decimal and its float": (Decimal("1.5"), 1.5),
    "member of an enum and its value": (Color.RED, "red"),
    "member of a text enum and its value": (Word.RED, "red"),
    "member of an integer enum and its value": (Level.LOW, 1),
    "text of a subclass": (Tag("a"), "a"),
    "integer of a subclass": (Count(1), 1),
    "float of a subclass": (Ratio(1.5), 1.5),
    "list of a subclass": (Basket([1]), [1]),
    "tuple of a subclass": (Row((1,)), (1,)),
    "dataclass and mapping": (Point(1), {"x": 1}),
    "struct and mapping": (Packed(1), {"x": 1}),
    "tagged struct and mapping": (Tagged(1), {"type": "tagged", "x": 1}),
    "instant and its text": (NOON, NOON.isoformat()),
    "instant and its text with a letter": (NOON, "2024-05-01T12:00:00Z"),
    "day and its text": (dt.date(2024, 5, 1), "2024-05-01"),
    "time and its text": (dt.time(12), "12:00:00"),
    "duration and its text": (dt.timedelta(seconds=1), "PT1S"),
    "id and its text": (ID, str(ID)),
    "raw JSON and what it says": (msgspec.Raw(b"1"), 1),
    "raw JSON and a mark of ours": ([msgspec.Raw(b"!tuple"), 1], (1,)),
    "mark of ours and a text": (("!tuple",), ["!tuple", "!tuple"]),
    "MessagePack extension and bytes": (msgspec.msgpack.Ext(1, b"a"), b"a"),
    "text key and integer key": ({"1": 0}, {1: 0}),
    "text key and true key": ({"true": 0}, {True: 0}),
    "text key and no key": ({"null": 0}, {None: 0}),
    "text key and float key": ({"1.5": 0}, {1.5: 0}),
    "text key and bytes key": ({"a": 0}, {b"a": 0}),
    "text key and subclass key": ({"a": 0}, {Tag("a"): 0}),
    "text key and enum key": ({"red": 0}, {Word.RED: 0}),
    "text key and id key": ({str(ID): 0}, {ID: 0}),
    "keys of one Unicode form": ({"\u00e9": 0, "e\u0301": 1}, {"\u00e9": 1}),
    "arrays past what a repr shows": (array.array("i", range(5000)), array.array("i", range(4999))),
    "entities with ids": ({"order": str(ID)}, {"order": str(uuid.UUID(int=6))}),
    "escaped and plain": ("\\u0041", "A"),
    "quoted and plain": ('"a"', "a"),
}

#: One encoder or another writes these differently, or fails on them.
SPLIT = {
    "order of nested keys": ({"a": {"x": 1, "y": [2]}}, {"a": {"y": [2], "x": 1}}),
    "texts of other identity": ("ab" * 3, str(b"ababab", "ascii")),
    "not a number of either sign": (NAN, -NAN),
    "Unicode forms": ("caf\u00e9", "cafe\u0301"),
    "a sign and the letter it is": ("\N{KELVIN SIGN}", "K"),
    "a sign that JSON escapes before an accent": ("\n\u0301\u00e9", "\n\u0301e\u0301"),
    "Hangul": ("\uac00", "\u1100\u1161"),
    "integers past 64 bits": (2**70, 1 << 70),
    "halves of a surrogate pair": ("\u00e9\ud800", "e\u0301\ud800"),
    "halves of a surrogate pair as keys": ({"\udfff": 1, "b": 2}, {"b": 2, "\udfff": 1}),
    "mappings of other kinds": ({"a": [1]}, UserDict({"a": [1]})),
    "mappings that make what is missing": ({"a": 1}, defaultdict(list, a=1)),
    "mappings that keep an order": (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
    "read-only mappings": ({"a": {"b": 1}}, types.MappingProxyType({"a": {"b": 1}})),
    "one instant": (NOON, NOON.astimezone(dt.timezone(dt.timedelta(hours=9)))),
    "orders of a set": ({"a", "b", "c", "d"}, {"d", "c", "b", "a"}),
    "keys that were taken away": ({"a": 1}, {key: 1 for key in ("a", 1) if key == "a"}),
}


def deep(levels: int, value: Any) -> Any:
    for level in range(levels):
        value = [value] if level % 2 else {"deeper": value}
    return value


PLACES: dict[str, Callable[[Any], Any]] = {
    "by itself": lambda value: value,
    "in a list": lambda value: [value],
    "in a tuple": lambda value: (value,),
    "as an argument": lambda value: {"order": "A-1", "given": value},
    "in a record": lambda value: {"records": [{"id": 1, "field": value}, {"id": 2, "field": 0.5}]},
    "beside nothing and a float": lambda value: [value, None, 1.5],
    "in a long list": lambda value: [*range(20), value],
    "in a dataclass": lambda value: [Point(value)],
    "200 levels down": lambda value: deep(200, value),
}


def places_of_one_digest(one: Any, other: Any) -> list[str]:
    return [name for name, put in PLACES.items() if digest(put(one)) == digest(put(other))]


@pytest.mark.parametrize("what", MERGED)
def test_what_encoders_write_alike_stays_apart_in_every_place(what: str) -> None:
    assert places_of_one_digest(*MERGED[what]) == []


@pytest.mark.parametrize("what", SPLIT)
def test_what_encoders_write_differently_is_one_value_in_every_place(what: str) -> None:
    assert places_of_one_digest(*SPLIT[what]) == list(PLACES)


def test_keys_that_were_taken_away_leave_no_trace() -> None:
    # Its table goes on being one for keys of any type.
    emptied: dict[Any, Any] = {1: 0, "a": [1]}
    del emptied[1]

    assert digest({"k": emptied}) == digest({"k": {"a": [1]}})


def test_the_attributes_of_an_object_are_a_mapping_like_any_other() -> None:
    holder = types.SimpleNamespace(a=Decimal(1), b=[2])

    assert digest(vars(holder)) == digest({"b": [2], "a": Decimal(1)})
    assert digest(vars(holder)) != digest({"b": [2], "a": "1"})


class OtherTag(str):
    __slots__ = ()


class OtherCount(int): ...


@pytest.mark.parametrize(("one", "other"), [(Tag("1"), OtherTag("1")), (Count(1), OtherCount(1))])
def test_two_kinds_of_one_base_are_two(one: Any, other: Any) -> None:
    assert digest(one) != digest(other)
    assert digest([one]) != digest([other])
