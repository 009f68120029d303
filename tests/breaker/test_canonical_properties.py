"""The digest against a second, plain way to say which values are equal."""

from __future__ import annotations

import unicodedata
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.canonical import digest

ANY_TEXT = st.text(st.characters(categories=None), max_size=8)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**200), max_value=2**200),
    st.floats(),
    st.complex_numbers(),
    ANY_TEXT,
    st.binary(max_size=8),
    st.decimals(),
    st.fractions(),
    st.datetimes(timezones=st.none() | st.timezones()),
    st.dates(),
    st.timedeltas(),
    st.uuids(),
    st.ip_addresses(),
)
HASHABLE = st.one_of(st.none(), st.booleans(), st.integers(), ANY_TEXT, st.binary(max_size=4))


def nested(leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4),
            st.lists(inner, max_size=4).map(tuple),
            st.dictionaries(keys, inner, max_size=4),
            st.frozensets(keys, max_size=4),
        ),
        max_leaves=12,
    )


#: Few leaves that are easily taken for each other, so that equal and nearly equal values come up.
CONFUSABLE = st.sampled_from(
    [
        *(None, False, 0, 0.0, Decimal(0), Decimal("0.00"), "0", b"0", "", b"", "None", "False"),
        *(True, 1, 1.0, Decimal(1), Decimal("1.0"), "1", float("nan"), "nan", Decimal("NaN")),
        *("\u00e9", "e\u0301", "\ud800", bytearray(b"0"), 2**64, float(2**64)),
    ]
)
SMALL_KEYS = st.sampled_from([None, 0, "0", b"0", True, "\u00e9", "e\u0301"])


def said_plainly(value: Any) -> Any:
    """The value as nested tuples of text, by the rules that the module's docstring gives."""
    name = type(value).__name__
    if isinstance(value, str):
        return (name, unicodedata.normalize("NFC", value))
    if isinstance(value, Decimal):
        plain = "0" if value == 0 else str(value.normalize()) if value.is_finite() else str(value)
        return (name, plain)
    if isinstance(value, dict):
        pairs = [(said_plainly(key), said_plainly(item)) for key, item in value.items()]
        return ("dict", tuple(sorted(pairs, key=repr)))
    if isinstance(value, frozenset):
        return ("set", tuple(sorted(map(said_plainly, value), key=repr)))
    if isinstance(value, list | tuple):
        return (name, tuple(map(said_plainly, value)))
    return (name, repr(value))


def turned_round(value: Any) -> Any:
    """An equal value whose mappings and sets were filled in the opposite order."""
    if isinstance(value, dict):
        return {key: turned_round(value[key]) for key in reversed(value)}
    if isinstance(value, frozenset):
        backwards = sorted(value, key=repr, reverse=True)
        return set(backwards)
    if isinstance(value, list | tuple):
        return type(value)(map(turned_round, value))
    return value


@settings(max_examples=150, deadline=None)
@given(nested(LEAVES, HASHABLE))
def test_no_value_crashes_and_order_does_not_count(value: Any) -> None:
    first = digest(value)

    assert first == digest(value)
    assert first == digest(turned_round(value))
    assert first != digest([value])


@settings(max_examples=300, deadline=None)
@given(nested(CONFUSABLE, SMALL_KEYS), nested(CONFUSABLE, SMALL_KEYS))
def test_two_values_have_one_digest_just_when_they_are_equal(one: Any, other: Any) -> None:
    assert (digest(one) == digest(other)) == (said_plainly(one) == said_plainly(other))


@settings(max_examples=200, deadline=None)
@given(CONFUSABLE, CONFUSABLE, st.sampled_from([list, tuple, lambda pair: {"k": pair[0]}]))
def test_confusable_leaves_stay_apart_inside_containers(one: Any, other: Any, wrap: Any) -> None:
    same = said_plainly(one) == said_plainly(other)

    assert (digest(wrap([one])) == digest(wrap([other]))) == same


@settings(max_examples=100, deadline=None)
@given(LEAVES, LEAVES)
def test_values_of_two_types_never_merge(one: Any, other: Any) -> None:
    if type(one) is not type(other):
        assert digest(one) != digest(other)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 5))
def test_a_graph_of_mappings_does_not_depend_on_key_order(links: list[int], start: int) -> None:
    def graph(*, backwards: bool) -> dict[str, Any]:
        nodes: list[dict[str, Any]] = [{} for _ in links]
        for number, node in enumerate(nodes):
            entries = [("n", number), ("x", nodes[links[number] % len(nodes)]), ("y", nodes[-1])]
            node.update(reversed(entries) if backwards else entries)
        return nodes[start % len(nodes)]

    assert digest(graph(backwards=False)) == digest(graph(backwards=True))
