"""A grammar gives other words for each number, the same ones everywhere."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.cases.grammar import MOST, Grammar, GrammarError, grammar

LAMPS = grammar(
    asks=("{verb} the {lamp}", "the {lamp}"),
    verb=("find", "show"),
    lamp=("lamp", "{size} lamp"),
    size=("big", "small"),
)
WORDS = st.sampled_from(("red", "blue", "lamp", ", ", ""))


@st.composite
def grammars(draw: st.DrawFn) -> Grammar:
    """Rules of which each leads to later ones only, the next one always among them."""
    names = [f"s{place}" for place in range(draw(st.integers(1, 3)))]
    rules = {}
    for place, name in enumerate(names):
        later = [f"{{{each}}}" for each in names[place + 1 :]]
        pieces = st.one_of(WORDS, st.sampled_from(later)) if later else WORDS
        some = draw(st.lists(st.lists(pieces, max_size=2).map("".join), min_size=1, max_size=2))
        rules[name] = (*some, *(each + "!" for each in later[:1]))
    return Grammar(rules=rules)


def test_all_texts_of_a_grammar() -> None:
    assert LAMPS.texts == (
        "find the lamp",
        "find the big lamp",
        "find the small lamp",
        "show the lamp",
        "show the big lamp",
        "show the small lamp",
        "the lamp",
        "the big lamp",
        "the small lamp",
    )


def test_a_text_that_is_had_by_two_roads_counts_once() -> None:
    assert grammar(start=("{a}{b}",), a=("x", ""), b=("", "x")).texts == ("x", "xx", "")


@settings(max_examples=60, deadline=None)
@given(words=grammars(), seed=st.integers(1, 10**30), first=st.integers(0, 1000))
def test_numbers_in_a_row_give_every_text_once(words: Grammar, seed: int, first: int) -> None:
    count = len(words.texts)

    row = [words.phrase(seed, number) for number in range(first, first + count)]

    assert len(set(words.texts)) == count
    assert sorted(row) == sorted(words.texts)
    assert words.phrase(seed, first + count) == row[0]


def test_words_are_the_same_on_every_machine() -> None:
    assert [LAMPS.phrase(7, number) for number in range(3)] == [
        "the small lamp",
        "show the lamp",
        "the big lamp",
    ]


def test_another_seed_begins_with_other_words() -> None:
    rows = {tuple(LAMPS.phrase(seed, number) for number in range(9)) for seed in range(40)}

    assert len(rows) > 20


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({}, "a grammar without rules says nothing"),
        ({"a": ()}, "the rule a has no alternatives"),
        ({"a": "text"}, "the rule a has no alternatives"),
        ({"a": ("{b}",)}, "there is no rule b, which a uses"),
        ({"a": ("{b}",), "b": ("{a}", "x")}, "the rule a leads back to itself"),
        ({"a": ("x",), "b": ("y",)}, "nothing leads to the rules b"),
        ({"a": ("x{",)}, "a brace in 'x{' (a) belongs to no symbol"),
        ({"a": ("{b c}",)}, "a brace in '{b c}' (a) belongs to no symbol"),
    ],
)
def test_rules_that_say_nothing_are_refused(
    rules: dict[str, tuple[str, ...]], message: str
) -> None:
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar(rules=rules)


def test_rules_that_say_too_much_are_refused_before_they_are_written_out() -> None:
    digits = tuple("0123456789")
    rules = {"a": ("{b}" * 4,), "b": digits}

    assert len(Grammar(rules=rules).texts) == MOST
    with pytest.raises(GrammarError, match="the rule a has more than 10000 texts"):
        Grammar(rules={**rules, "a": ("{b}" * 40,)})
