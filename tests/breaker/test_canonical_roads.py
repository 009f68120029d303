"""Values take several roads to their digest. Which values are equal is told by the long one alone:
on it every type is known and nothing is taken for something else.
"""

from __future__ import annotations

import contextlib
import math
import sys
import types
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.canonical import combined, digest
from pytest_tripwire.breaker.canonical.flat import flat
from pytest_tripwire.breaker.canonical.measure import LARGEST, size_of
from pytest_tripwire.breaker.canonical.plain import encoded, survey
from pytest_tripwire.breaker.canonical.roads import canonical
from pytest_tripwire.breaker.canonical.walk import Walk
from pytest_tripwire.breaker.prune import DEPTH, NamesBy, prune


class Word(str):
    __slots__ = ()


class Color(StrEnum):
    RED = "red"


@dataclass
class Point:
    x: Any


KELVIN = "\N{KELVIN SIGN}"  # the letter K, once it is in Unicode form NFC
ESCAPED = "\n\u0301"  # JSON writes the new line as a letter that the accent could sit on

TEXTS = st.sampled_from(
    [
        "",
        "a",
        "b",
        "K",
        KELVIN,
        "red",
        "\u00e9",
        "e\u0301",
        "e",
        "\u0301",
        ESCAPED,
        "null",
        "\ud800",
    ]
)
LEAVES = st.one_of(
    TEXTS,
    st.sampled_from([None, True, False, 0, 1, 0.0, -0.0, 1.0, 1.5, 2**63, 2**64, -(2**63) - 1]),
    st.sampled_from([float("nan"), -float("nan"), math.inf, -math.inf, float(2**64)]),
    st.sampled_from([Decimal("1.0"), Decimal(1), b"a", Word("a"), Color.RED, 1j]),
)
NAMES = TEXTS | st.sampled_from([0, None, True, Word("a"), Color.RED, b"a"])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    mappings = st.dictionaries(NAMES, inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
    return st.one_of(
        mappings,
        mappings.map(OrderedDict),
        mappings.map(types.MappingProxyType),
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.lists(inner, min_size=15, max_size=17),
        st.frozensets(NAMES, max_size=3),
        inner.map(Point),
        inner.map(lambda part: [part, part]),
    )


VALUES = st.recursive(LEAVES, containers, max_leaves=10)


def reference(value: Any) -> bytes:
    return Walk().over(value)


def told_otherwise(value: Any) -> Any:
    """The same value from other hands: other order, other kinds of mapping, other Unicode form,
    nothing shared.
    """
    if type(value) is str:
        return unicodedata.normalize("NFD", value)
    if isinstance(value, dict | types.MappingProxyType):
        pairs = [(told_otherwise(name), told_otherwise(part)) for name, part in value.items()]
        return OrderedDict(reversed(pairs)) if type(value) is dict else dict(pairs)
    if type(value) is list or type(value) is tuple:
        return type(value)(map(told_otherwise, value))
    return Point(told_otherwise(value.x)) if type(value) is Point else value


def one_part_changed(value: Any, part: Any) -> Any:
    """The value with `part` in place of the first that it comes to."""
    if isinstance(value, dict) and value:
        first = next(iter(value))
        return {**value, first: one_part_changed(value[first], part)}
    if (type(value) is list or type(value) is tuple) and value:
        return type(value)([one_part_changed(value[0], part), *value[1:]])
    return part


@settings(max_examples=200, deadline=None)
@given(VALUES, VALUES, LEAVES)
def test_two_values_have_one_digest_just_when_the_long_road_says_so(
    one: Any, unlike: Any, part: Any
) -> None:
    for other in (unlike, told_otherwise(one), one_part_changed(one, part)):
        assert (digest(one) == digest(other)) == (reference(one) == reference(other))


@settings(max_examples=80, deadline=None)
@given(VALUES, st.sampled_from([list, tuple, lambda parts: {"k": parts[0]}, lambda parts: parts]))
def test_a_part_means_the_same_wherever_it_stands(value: Any, wrap: Callable[..., Any]) -> None:
    other = told_otherwise(value)
    alike = reference(value) == reference(other)

    assert (digest(wrap([value])) == digest(wrap([other]))) == alike


NONCES = frozenset({"a", "K"})


@settings(max_examples=120, deadline=None)
@given(VALUES)
def test_leaving_out_while_digesting_is_leaving_out_before_it(value: Any) -> None:
    by_function = NamesBy(lambda name: name in NONCES)
    pruned = digest(prune(value, NONCES))

    assert digest(value, without=NONCES) == pruned
    assert digest(value, without=by_function) == pruned
    assert digest(prune(value, by_function)) == pruned


@pytest.mark.parametrize("leaf", [{}, {"b": Decimal(1)}, {"b": "e\u0301"}])
@pytest.mark.parametrize("levels", range(DEPTH + 2))
def test_names_are_left_out_as_deep_as_a_person_would_write(levels: int, leaf: Any) -> None:
    with_name, without = nested(levels, {"a": 1, **leaf}), nested(levels, leaf)
    alike = levels < DEPTH

    assert (digest(with_name, without=NONCES) == digest(without)) == alike
    assert (digest((with_name, 1), without=NONCES) == digest((without, 1))) == (levels < DEPTH - 1)
    assert digest(without, without=NONCES) == digest(without)


def in_whole_numbers(value: Any) -> Any:
    if type(value) is float and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {in_whole_numbers(name): in_whole_numbers(part) for name, part in value.items()}
    if type(value) is list or type(value) is tuple:
        return type(value)(map(in_whole_numbers, value))
    return Point(in_whole_numbers(value.x)) if type(value) is Point else value


@settings(max_examples=120, deadline=None)
@given(VALUES)
def test_with_whole_numbers_a_float_without_a_fraction_is_an_integer(value: Any) -> None:
    whole = in_whole_numbers(value)

    assert digest(value, whole_numbers=True) == digest(whole, whole_numbers=True)
    assert (digest(value) == digest(whole)) == (reference(value) == reference(whole))


def test_with_whole_numbers_nothing_else_becomes_an_integer() -> None:
    values = [1, True, "1", 1.5, None, Decimal(1), [1], (1,), {"a": 1}, math.inf, float("nan")]

    assert len({digest(value, whole_numbers=True) for value in values}) == len(values)


@pytest.mark.parametrize("put", [lambda part: part, lambda part: [part], lambda part: {"a": part}])
def test_only_with_whole_numbers_a_float_is_an_integer(put: Callable[[Any], Any]) -> None:
    for wrap in (put, lambda part: put({"b": [part]}), lambda part: (put(part),)):
        one, other = wrap(40.0), wrap(40)

        assert digest(one, whole_numbers=True) == digest(other, whole_numbers=True)
        assert digest(one) != digest(other)


def test_integers_too_long_to_be_written_down_are_told_apart() -> None:
    one, other = 10**5000, 10**5000 + 1

    assert len({digest(value) for value in (one, other, [one], [other], {"a": one})}) == 5
    assert digest([one]) == digest([10**4999 * 10])


# -- which road is taken


def on_short_road(value: Any) -> bool:
    surveyed = survey(value)
    return surveyed is not None and encoded(value, surveyed[1]) == canonical(value)


def is_walked_over(value: Any) -> bool:
    return canonical(value)[:1] == b"!"


@pytest.mark.parametrize(
    "value",
    [{"order": "A-1", "euros": 10}, {"name": "Z\u00fcrich"}, ("acme", "refund", 1.5), [None, True]],
)
def test_a_few_simple_values_take_the_shortest_road(value: Any) -> None:
    assert flat(value) == canonical(value)


@pytest.mark.parametrize(
    "value",
    [
        {"orders": [{"order": "A-1", "euros": 1.5, "note": None}]},
        {f"name {number}": number for number in range(16)},
        {"city": ["Z\u00fcrich"]},
        {"large": 2**70},
        "text",
        None,
        1.5,
    ],
)
def test_what_came_from_json_takes_the_short_road(value: Any) -> None:
    assert on_short_road(value)


def test_a_value_with_odd_parts_is_not_walked_over_as_a_whole() -> None:
    raw = canonical({"order": "A-1", "amount": Decimal("10.00"), "lines": ({"n": 1},)})

    assert raw.startswith(b'{"amount":!')
    assert b'"lines":[!tuple,{"n":1}],"order":"A-1"' in raw


class Labelled(str):
    """A text above all, though it can be looked into like a mapping."""

    __slots__ = ()

    def items(self) -> list[tuple[str, int]]:
        return [("label", 1)]


Mapping.register(Labelled)


def test_a_text_that_passes_for_a_mapping_is_the_text_that_it_is() -> None:
    assert reference(Labelled("a")) != reference(Labelled("b"))
    assert digest([Labelled("a")]) != digest([Labelled("b")])


# -- limits


def nested(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


@pytest.mark.parametrize("levels", [LARGEST.levels - 1, LARGEST.levels, LARGEST.levels + 1])
def test_at_the_deepest_level_equal_values_still_take_one_road(levels: int) -> None:
    one, other = nested(levels, "\u00e9"), nested(levels, "e\u0301")

    assert on_short_road(one) == (levels <= LARGEST.levels)
    assert is_walked_over(one) == is_walked_over(other) == (levels > LARGEST.levels)
    assert digest(one) == digest(other)
    assert digest(one) != digest(nested(levels, "e"))


@pytest.mark.parametrize("length", [7_998, 8_002])
def test_at_most_text_equal_values_still_take_one_road(length: int) -> None:
    # Twice as many characters in the other Unicode form, but no more of them in the value.
    one, other = ["\u00e9" * length] * 2_000 + [""] * 48, ["e\u0301" * length] * 2_000 + [""] * 48

    raw, surveyed = canonical(one), survey(one)

    short = surveyed is not None and encoded(one, surveyed[1]) == raw
    assert short == (length * 2_000 <= LARGEST.text)
    assert (raw[:1] == b"!") == (length * 2_000 > LARGEST.text)
    assert canonical(other) == raw  # what a digest is made of; made once, as it is long


def test_a_large_value_with_shared_parts_equals_its_copy() -> None:
    part = [0] * 1_000
    copied = [part.copy() for _ in range(990)]

    assert on_short_road(copied)
    assert digest([part] * 990) == digest(copied)
    assert digest([part] * 990) != digest([part] * 989)
    assert is_walked_over([part] * 2_000)


def test_more_places_than_memory_has_are_no_trouble() -> None:
    wide: Any = "leaf"
    for _ in range(20):
        wide = [wide] * 1_000
    text = ["x" * 1_000_000] * 3_000

    assert len({digest(wide), digest([wide]), digest(text), digest(text[1:])}) == 4


@settings(max_examples=100, deadline=None)
@given(st.recursive(TEXTS, lambda inner: st.lists(inner, max_size=3), max_leaves=20))
def test_the_size_of_a_value_is_what_counting_gives(value: Any) -> None:
    def places(part: Any) -> int:
        return len(part) + sum(map(places, part)) if isinstance(part, list) else 0

    def levels(part: Any) -> int:
        return 1 + max(map(levels, part), default=0) if isinstance(part, list) else 0

    def text(part: Any) -> int:
        return sum(map(len, part)) + sum(map(text, part)) if isinstance(part, list) else 0

    whole = [value, value]

    assert size_of(whole) == (places(whole), levels(whole), text(whole))


def test_what_holds_itself_has_no_size() -> None:
    loop: list[Any] = []
    loop.append({"again": [loop]})

    assert size_of(loop) is None
    assert size_of([[]] * 2) == (2, 2, 0)


def digest_from(frames: int, value: Any) -> str:
    """The digest as told `frames` calls further down."""
    return digest_from(frames - 1, value) if frames else digest(value)


def digests_from_the_limit(value: Any) -> list[str]:
    """The digests as told from ever less deep, beginning where there is no room for any."""
    told = []
    for frames in range(sys.getrecursionlimit(), 0, -1):
        with contextlib.suppress(RecursionError):
            told.append(digest_from(frames, value))
    return told


def test_a_digest_is_the_same_from_deep_within_a_recursion() -> None:
    value = nested(LARGEST.levels - 2, {"a": ["\u00e9", 1.5, None]})
    told = digests_from_the_limit(value)

    assert set(told) == {digest(value)}
    # Nearly as deep down as a value that takes no room, so that the encoder has failed on the way.
    assert len(digests_from_the_limit(None)) - len(told) < LARGEST.levels / 4


def test_an_odd_part_that_holds_what_it_lies_in_means_nothing_by_itself() -> None:
    inside = Point(None)
    whole = inside.x = [inside]

    assert reference(whole) != reference([inside])
    assert digest(whole) != digest([inside])
    assert digest([whole]) == digest([whole])


# -- several digests in one


def test_a_combination_depends_on_each_digest_and_on_their_order() -> None:
    one, two = digest(1), digest(2)
    all_of_them = [combined(), combined(one), combined(two), combined(one, two), combined(two, one)]

    assert len({*all_of_them, combined(one + two), one, two}) == 8
    assert combined(one, two) == combined(digest(1), digest(2))
    assert all(len(each) == 32 for each in all_of_them)


def test_a_combination_is_no_digest_of_a_value() -> None:
    digits = "1" * 32

    assert combined(digits) not in {digest(digits), digest(int(digits)), digest((digits,))}
