"""Every trap of encoding arguments has a defined result."""

from __future__ import annotations

import array
import dataclasses
import datetime as dt
import enum
import fractions
import ipaddress
import math
import os
import re
import subprocess
import sys
import types
import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock
from zoneinfo import ZoneInfo

import msgspec
import pydantic
import pytest

import pytest_tripwire
from pytest_tripwire.breaker.canonical import digest


class Color(enum.Enum):
    RED = "red"


class Shade(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Access(enum.Flag, boundary=enum.KEEP):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Point:
    x: int
    y: int


@dataclasses.dataclass
class Vector:
    x: int
    y: int


class Packed(msgspec.Struct):
    x: int
    y: int


class Model(pydantic.BaseModel):
    x: int
    y: int


class Open(pydantic.BaseModel, extra="allow"):
    x: int


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x

    def method(self) -> None: ...


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: int) -> None:
        self.x = x


class Stateless: ...


class Money(int):
    """A number that says in an attribute what it counts."""

    currency: str

    @classmethod
    def of(cls, amount: int, currency: str) -> Money:
        money = cls(amount)
        money.currency = currency
        return money


class Tag(str):
    __slots__ = ()


class Basket(list[int]): ...


Pair = namedtuple("Pair", "x y")  # noqa: PYI024 - the untyped kind is one to tell apart as well


def nest(depth: int, leaf: Any) -> list[Any]:
    value = [leaf]
    for _ in range(depth):
        value = [value]
    return value


def loop(length: int) -> list[Any]:
    first: list[Any] = []
    last = first
    for _ in range(length - 1):
        last.append([])
        last = last[0]
    last.append(first)
    return first


UTC_NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
NAN = float("nan")

EQUAL = {
    "nan": (NAN, -float("nan")),
    "nan in a list": ([NAN], [float("nan")]),
    "the same big integer": (2**200, 2**200),
    "key order": ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    "set order": ({"a", "b", "c"}, {"c", "b", "a"}),
    "set and frozenset": ({1, 2}, frozenset({1, 2})),
    "mappings of two kinds": ({"a": 1}, OrderedDict(a=1)),
    "mapping proxy": ({"a": 1}, types.MappingProxyType({"a": 1})),
    "decimals of other precision": (Decimal("1.0"), Decimal("1.00")),
    "decimals of other exponent": (Decimal(100), Decimal("1E+2")),
    "decimal zeros": (Decimal(0), Decimal("-0.00")),
    "unicode forms": ("caf\u00e9", "cafe\u0301"),
    "unicode forms of keys": ({"caf\u00e9": 1}, {"cafe\u0301": 1}),
    "one instant in two zones": (UTC_NOON, UTC_NOON.astimezone(ZoneInfo("Asia/Tokyo"))),
    "equal dataclasses": (Point(1, 2), Point(1, 2)),
    "equal structs": (Packed(1, 2), Packed(1, 2)),
    "equal models": (Model(x=1, y=2), Model(y=2, x=1)),
    "equal plain objects": (Plain({"a": 1}), Plain({"a": 1})),
    "equal slotted objects": (Slotted(1), Slotted(1)),
    "equal arrays": (array.array("d", range(2000)), array.array("d", range(2000))),
    "equal loops": (loop(3), loop(3)),
    "shared and copied parts": ([nest(2, 1)] * 2, [nest(2, 1), nest(2, 1)]),
    "equal fractions": (fractions.Fraction(1, 3), fractions.Fraction(2, 6)),
    "equal addresses": (ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.1")),
    "equal namespaces": (types.SimpleNamespace(x=1), types.SimpleNamespace(x=1)),
    "equal ids": (uuid.UUID(int=5), uuid.UUID(int=5)),
    "equal paths": (Path("a/b"), Path("a") / "b"),
    "one imported function": (os.path.join, os.path.join),
    "one bound class method": (Money.of, Money.of),
    "ellipsis": (..., ...),
}

APART = {
    "true and one": (True, 1),
    "false and zero": (False, 0),
    "one and its float": (1, 1.0),
    "one and its text": (1, "1"),
    "none and its text": (None, "None"),
    "none and nan": (None, NAN),
    "nan and its text": (NAN, "nan"),
    "nan and infinity": (NAN, math.inf),
    "both infinities": (math.inf, -math.inf),
    "bytes and text": (b"a", "a"),
    "bytes and bytearray": (b"a", bytearray(b"a")),
    "big integers": (2**200, 2**200 + 1),
    "integers beyond double": (2**53, 2**53 + 1),
    "lone surrogates": ("\ud800", "\ud801"),
    "surrogate and question mark": ("\ud800", "?"),
    "int key and text key": ({1: "a"}, {"1": "a"}),
    "pairs of a mapping": ({"a": "b", "c": "d"}, {"a": "d", "c": "b"}),
    "list and tuple": ([1], (1,)),
    "list and set": ([1], {1}),
    "list order": ([1, 2], [2, 1]),
    "nesting": ([[1], 2], [[1, 2]]),
    "empty kinds": ([], {}),
    "decimal and text": (Decimal("1.0"), "1.0"),
    "decimal and float": (Decimal("1.5"), 1.5),
    "decimal magnitudes": (Decimal(1), Decimal(10)),
    "decimal signs": (Decimal(1), Decimal(-1)),
    "dataclass and mapping": (Point(1, 2), {"x": 1, "y": 2}),
    "two dataclasses": (Point(1, 2), Vector(1, 2)),
    "two points": (Point(1, 2), Point(2, 1)),
    "struct and mapping": (Packed(1, 2), {"x": 1, "y": 2}),
    "two structs": (Packed(1, 2), Packed(1, 3)),
    "model and mapping": (Model(x=1, y=2), {"x": 1, "y": 2}),
    "two models": (Model(x=1, y=2), Model(x=1, y=3)),
    "extra fields of a model": (Open(x=1, y=2), Open(x=1, y=3)),  # type: ignore[call-arg]
    "enum and value": (Color.RED, "red"),
    "enums of two kinds": (Color.RED, Shade.RED),
    "int enum and value": (Level.LOW, 1),
    "flag and its value": (Access.READ, 1),
    "no flag and another": (Access(0), Access.READ),
    "unnamed flags": (Access(4), Access(8)),
    "instants": (UTC_NOON, UTC_NOON + dt.timedelta(microseconds=1)),
    "naive and aware": (UTC_NOON.replace(tzinfo=None), UTC_NOON),
    "date and midnight": (dt.date(2024, 5, 1), dt.datetime(2024, 5, 1)),  # noqa: DTZ001
    "named tuple and tuple": (Pair(1, 2), (1, 2)),
    "list subclass and list": (Basket([1]), [1]),
    "text subclass and text": (Tag("a"), "a"),
    "currencies of an amount": (Money.of(5, "EUR"), Money.of(5, "USD")),
    "plain objects": (Plain(1), Plain(2)),
    "slotted objects": (Slotted(1), Slotted(2)),
    "arrays past a repr": (array.array("d", range(2000)), array.array("d", [*range(1999), 0])),
    "arrays of other types": (array.array("b", [1]), array.array("B", [1])),
    "array and its bytes": (array.array("b", [1]), b"\x01"),
    "depths": (nest(5000, 1), nest(5000, 2)),
    "neighbouring depths": (nest(5000, 1), nest(5001, 1)),
    "loops of other lengths": (loop(2), loop(3)),
    "loops that close at other distances": (loop(2), [loop(1)]),
    "loop and its unrolling": (loop(1), [loop(1)]),
    "records with other ids": (
        {"order": "00000000-0000-0000-0000-00000000000a"},
        {"order": "00000000-0000-0000-0000-00000000000b"},
    ),
    "methods of two objects": (Plain(1).method, Plain(2).method),
    "fractions": (fractions.Fraction(1, 3), fractions.Fraction(1, 2)),
    "addresses": (ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2")),
    "class and its name": (Plain, f"{Plain.__module__}.Plain"),
    "two patterns": (re.compile("a"), re.compile("b")),
}


@pytest.mark.parametrize("what", EQUAL)
def test_these_are_one_value(what: str) -> None:
    one, other = EQUAL[what]

    assert digest(one) == digest(other)


@pytest.mark.parametrize("what", APART)
def test_these_are_two_values(what: str) -> None:
    one, other = APART[what]

    assert digest(one) != digest(other)


def test_objects_without_state_are_never_equal_even_at_one_address() -> None:
    # Each is freed before the next is made, so that CPython uses its address again.
    assert len({digest(Stateless()) for _ in range(50)}) == 50
    assert len({digest(object()) for _ in range(50)}) == 50
    assert len({digest([object()]) for _ in range(50)}) == 50


def test_an_object_without_state_is_equal_to_itself() -> None:
    one = Stateless()

    assert digest(one) == digest(one)
    assert digest({"a": one}) == digest({"a": one})


def test_closures_are_told_apart_by_more_than_their_name() -> None:
    def make(number: int) -> Callable[[], int]:
        return lambda: number

    first, second = make(1), make(2)

    assert digest(first) != digest(second)
    assert digest(first) == digest(first)


class CountedMapping(Mapping[str, int]):
    looked_into = 0

    def __getitem__(self, key: str) -> int:
        return 1

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[str]:
        type(self).looked_into += 1
        return iter(["a"])


def test_a_shared_part_is_looked_into_once() -> None:
    bomb: Any = CountedMapping()
    for _ in range(16):
        bomb = [bomb, bomb]

    digest(bomb)

    assert CountedMapping.looked_into == 1


def test_sixty_levels_of_shared_lists_end() -> None:
    def bomb() -> Any:
        value: Any = ["leaf"]
        for _ in range(60):
            value = [value, {"again": value}]
        return value

    assert digest(bomb()) == digest(bomb())


def test_sixty_levels_of_shared_lists_over_a_loop_end() -> None:
    value: Any = loop(1)
    for _ in range(60):
        value = [value, value]

    assert len(digest(value)) == 32


def test_objects_that_all_know_each_other_end() -> None:
    friends: list[list[Any]] = [[] for _ in range(14)]
    for one in friends:
        one.extend(other for other in friends if other is not one)

    assert len(digest(friends)) == 32


def test_a_loop_does_not_depend_on_where_its_key_stands() -> None:
    first: dict[str, Any] = {}
    first.update(a=first, b=[first, 1], c=2)
    second: dict[str, Any] = {}
    second.update(c=2, b=[second, 1], a=second)

    assert digest(first) == digest(second)


def test_a_part_of_a_loop_does_not_depend_on_which_part_comes_first() -> None:
    one: list[Any] = []
    two = ["x", one]
    one.append(two)

    assert digest({"one": one, "two": two}) == digest({"two": two, "one": one})


class _Raising:
    def __reduce_ex__(self, _protocol: Any) -> Any:
        raise RuntimeError("no")


class _Odd:
    def __init__(self, parts: Any) -> None:
        self.parts = parts

    def __reduce_ex__(self, _protocol: Any) -> Any:
        return self.parts


class _BrokenMapping(dict[str, int]):
    def items(self) -> Any:
        raise RuntimeError("no")


class _BrokenText(str):
    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


class _Liar:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no")


def released_view() -> memoryview:
    view = memoryview(b"a")
    view.release()
    return view


HOSTILE = {
    "raises when reduced": _Raising(),
    "reduces to nothing": _Odd(()),
    "reduces to half": _Odd(("x",)),
    "reduces to numbers": _Odd((1, 2, 3)),
    "mapping whose items raise": _BrokenMapping(a=1),
    "text whose attributes raise": _BrokenText("a"),
    "class that raises": _Liar(),
    "mock": Mock(),
    "mock of a mapping": MagicMock(spec=dict),
    "generator": (number for number in range(3)),
    "open file descriptor": sys.stdin,
    "frame": sys._getframe(),  # noqa: SLF001 - as odd a value as there is
    "instant before the first in UTC": dt.datetime.min.replace(
        tzinfo=dt.timezone(dt.timedelta(hours=14))
    ),
    "module": os,
    "lone surrogate": {"\udfff": "\ud800"},
    "released view": released_view(),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_no_value_makes_it_raise(what: str) -> None:
    assert re.fullmatch("[0-9a-f]{32}", digest(HOSTILE[what]))
    assert re.fullmatch("[0-9a-f]{32}", digest({"deep": [HOSTILE[what]]}))


def test_a_hostile_part_does_not_hide_its_neighbours() -> None:
    hostile = _Raising()

    assert digest([hostile, 1]) != digest([hostile, 2])


#: A change of these makes stored fingerprints of earlier versions worthless.
PINNED: dict[str, tuple[Any, str]] = {
    "none": (None, "941dffce4e4308ceb33e87326003257d"),
    "true": (True, "b30ee95ec6cda01eb712d912431fe867"),
    "int": (1, "cea3878a334b240469d159ff840b6434"),
    "float": (1.0, "5f8a2d42fe0030845fc28162720f81ef"),
    "text": ("1", "8510949d6fafbe66c0f1fd79f221faeb"),
    "bytes": (b"1", "5af2f91ba7aa35d6a1d3d8764659b9c3"),
    "decimal": (Decimal("1.00"), "34856306a03ff83b6beea1b0087ff2de"),
    "list": ([], "7a9e3d48316709a334376b83e845f6fb"),
    "mapping": ({}, "ac69880be8c04c40e2fe726341145871"),
    "instant": (
        dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
        "0a023f6d2976ddc7442042538eefdf3e",
    ),
    "arguments": (
        {"order_id": "A-1", "amount": 10, "tags": {"a", "b"}},
        "f75c2d3de31687841bba10df408a1749",
    ),
    "nested": ((1, [2, {"x": NAN}]), "fd0fe739746f15f76892999c3641f50a"),
}


@pytest.mark.parametrize("what", PINNED)
def test_the_digest_of_a_value_stays_what_it_was(what: str) -> None:
    value, expected = PINNED[what]

    assert digest(value) == expected


OTHER_PROCESS = """
from decimal import Decimal
from fractions import Fraction
from enum import Flag
from pytest_tripwire.breaker.canonical import digest

class Access(Flag):
    READ = 1

words = {f"word {number}" for number in range(40)}
print(digest(words))
print(digest({word: {word, "x"} for word in words}))
print(digest([Fraction(1, 3), Decimal("2.50"), frozenset(words), len, str, Access(0)]))
"""


def test_digests_are_the_same_in_every_process() -> None:
    def run(seed: str) -> list[str]:
        root = str(Path(pytest_tripwire.__file__).parents[1])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        done = subprocess.run(
            [sys.executable, "-c", OTHER_PROCESS],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.split()

    first, second = run("1"), run("2")

    assert len(first) == 3
    assert first == second
    assert first[0] == digest({f"word {number}" for number in range(40)})


def test_objects_without_state_are_not_equal_across_processes() -> None:
    script = (
        "from pytest_tripwire.breaker.canonical import digest\n"
        "class Stateless: ...\n"
        "print(digest(Stateless()))"
    )
    root = str(Path(pytest_tripwire.__file__).parents[1])
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    }

    assert len(told) == 2
