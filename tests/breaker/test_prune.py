"""Leaving named keys out copies no more than it has to."""

from __future__ import annotations

import types
from collections import OrderedDict, namedtuple
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.prune import DEPTH, NamesBy, prune

NONCES = frozenset({"nonce", "at"})
NAMES = st.sampled_from(["nonce", "at", "order", "note", 1, None])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    mappings = st.dictionaries(NAMES, inner, max_size=3)
    return st.one_of(
        mappings,
        mappings.map(OrderedDict),
        mappings.map(types.MappingProxyType),
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        inner.map(lambda part: [part, part]),
    )


VALUES = st.recursive(st.sampled_from([1, "nonce", None, b"a"]), containers, max_leaves=12)


def rebuilt(value: Any, depth: int) -> Any:
    """The same the plain way: all of it made anew, mappings as dicts."""
    if isinstance(value, Mapping):
        return {
            name: rebuilt(part, depth - 1)
            for name, part in value.items()
            if depth <= 0 or name not in NONCES
        }
    if isinstance(value, list | tuple):
        return type(value)([rebuilt(part, depth - 1) for part in value])
    return value


def as_dicts(value: Any) -> Any:
    return rebuilt(value, 0)


@settings(max_examples=100, deadline=None)
@given(VALUES, st.integers(0, 4))
def test_it_gives_what_making_all_of_it_anew_gives(value: Any, depth: int) -> None:
    before = as_dicts(value)

    assert as_dicts(prune(value, NONCES, depth)) == rebuilt(value, depth)
    assert as_dicts(value) == before  # the value itself stays as it was


@settings(max_examples=100, deadline=None)
@given(VALUES)
def test_what_has_nothing_to_leave_out_is_returned_itself(value: Any) -> None:
    pruned = prune(value, NONCES)

    assert prune(pruned, NONCES) is pruned
    assert prune(value, frozenset({"another"})) is value


def test_a_function_that_tells_the_names_is_asked_once_for_each() -> None:
    asked: list[str] = []

    def is_nonce(name: str) -> bool:
        asked.append(name)
        return name.startswith("nonce")

    names = NamesBy(is_nonce)
    value = [{"nonce 1": 1, "order": number, 7: number} for number in range(20)]

    assert prune(value, names) == [{"order": number, 7: number} for number in range(20)]
    assert sorted(asked) == ["nonce 1", "order"]


def test_names_that_nobody_can_remember_are_asked_for_anew() -> None:
    asked: list[str] = []
    names = NamesBy(lambda name: bool(asked.append(name)))

    for _ in range(2):
        assert names.isdisjoint(map(str, range(5_000)))

    assert len(asked) == 10_000


def test_a_name_of_another_type_is_judged_by_its_text() -> None:
    class Name(str):
        __slots__ = ()

    names = NamesBy(lambda name: name == "nonce")

    assert prune({Name("nonce"): 1, Name("order"): 2}, names) == {"order": 2}
    assert names.intersection([Name("nonce"), "order", None, 1]) == {"nonce"}


def test_only_the_way_to_what_is_left_out_is_copied() -> None:
    untouched: dict[str, Any] = {"lines": [{"n": 1}]}
    value = {"a": untouched, "b": [{"nonce": 1, "order": 2}, untouched], "c": (untouched,)}

    pruned = prune(value, NONCES)

    assert pruned == {"a": untouched, "b": [{"order": 2}, untouched], "c": (untouched,)}
    assert pruned["a"] is untouched
    assert pruned["b"][1] is untouched
    assert pruned["c"] is value["c"]


def test_the_order_of_keys_stays() -> None:
    value = {"c": {"at": 1}, "nonce": 2, "a": 3, "b": [{"at": 4}]}

    assert list(prune(value, NONCES)) == ["c", "a", "b"]


@pytest.mark.parametrize(("depth", "left"), [(0, {"at", "deep"}), (1, {"deep"}), (2, {"deep"})])
def test_it_looks_as_deep_as_it_is_told(depth: int, left: set[str]) -> None:
    pruned = prune({"at": 1, "deep": {"at": 2}}, NONCES, depth)

    assert set(pruned) == left
    assert ("at" in pruned["deep"]) == (depth < 2)


def test_by_default_it_looks_as_deep_as_a_person_would_write() -> None:
    value: Any = {"nonce": 1}
    for _ in range(DEPTH - 1):
        value = [value]

    assert "nonce" not in str(prune(value, NONCES))
    assert "nonce" in str(prune([value], NONCES))


Pair = namedtuple("Pair", "x y")  # noqa: PYI024 - the untyped kind is one to leave alone as well


class Basket(list[Any]): ...


@pytest.mark.parametrize("value", [Pair({"nonce": 1}, 2), Basket([{"nonce": 1}]), {("nonce",)}])
def test_what_may_mean_more_than_its_parts_is_not_looked_into(value: Any) -> None:
    assert prune(value, NONCES) is value
    assert prune([value, {"nonce": 1}], NONCES)[0] is value


class Raising(dict[str, Any]):
    def items(self) -> Any:
        raise RuntimeError("no")


class Comparing:
    """A key that falls into the place of another, and raises when it is compared with it."""

    def __hash__(self) -> int:
        return hash("nonce")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")


class Liar:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no")


HOSTILE = {
    "mapping whose items raise": Raising(nonce=1),
    "key that raises": {Comparing(): 1},
    "class that raises": Liar(),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_cannot_be_looked_into_is_returned_as_it_is(what: str) -> None:
    value = HOSTILE[what]

    assert prune(value, NONCES) is value
    assert prune([value, {"nonce": 1}], NONCES)[0] is value


@pytest.mark.parametrize("deeper_first", [True, False])
def test_a_shared_part_is_left_alone_only_where_it_lies_too_deep(deeper_first: bool) -> None:  # noqa: FBT001 - given by name
    shared = [{"nonce": 1}]
    value = [[shared], shared] if deeper_first else [shared, [shared]]

    pruned = prune(value, NONCES, 3)

    assert pruned == ([[shared], [{}]] if deeper_first else [[{}], [shared]])


def test_what_holds_itself_is_left_in_one_piece() -> None:
    clean: dict[str, Any] = {"order": 1}
    clean["again"] = [clean]
    loop: dict[str, Any] = {"nonce": 1}
    loop["again"] = [loop]

    assert prune(clean, NONCES) is clean
    assert "nonce" not in prune(loop, NONCES)["again"][0]


def test_wide_values_with_shared_parts_end() -> None:
    value: Any = {"nonce": 1, "order": 2}
    for _ in range(DEPTH - 1):
        value = [value] * 1_000

    pruned = prune(value, NONCES)

    assert pruned[0] is pruned[-1]
    assert pruned[0] is not value[0]
