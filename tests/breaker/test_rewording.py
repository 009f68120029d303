"""Asking for one thing in other words, with and without a declaration of what is wording."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.loose import FreeText
from pytest_tripwire.breaker.words import (
    enumerates,
    is_random,
    is_reference,
    is_reworded,
    is_wordy,
    names_another,
    references,
    wording,
)

from .driver import Decision, Driver, Mode, Reason, ToolCall, ok, read, stepped

POLICY = (
    "lamp return policy",
    "return policy of the lamp",
    "the policy for lamp returns",
    "policy: returning a lamp, return policy",
    "please find the lamp's return policy",
    "lamp policy on returns",
)
DECLARED = read("search", identity=("topic",), wording=("query",))
UNDECLARED = read("search")
TEXT = st.lists(
    st.sampled_from(["lamp", "return", "policy", "colour", "price", "box", "O-17", "it's"]),
    min_size=1,
)


def searched(driver: Driver, words: Sequence[str], result: Any, **more: Any) -> int:
    """Search in these words; returns how many searches were let through."""
    return stepped(driver.gives(result, "search", query=each, **more) for each in words)


# -- the loop


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([], Reason.EMPTY_RESULTS),
        ({"hits": ["faq"]}, Reason.REPEATED_INTENT_SAME_OUTCOME),
        ("No results found.", Reason.EMPTY_RESULTS),
    ],
)
def test_declared_wording_stops_the_fourth(result: Any, reason: Reason) -> None:
    driver = Driver(DECLARED)

    assert searched(driver, POLICY, result, topic="lamp") == 3
    assert driver.reason is reason
    assert driver.rests_on == ["search"] * 3


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ([], Reason.EMPTY_RESULTS),
        ({"hits": ["faq"]}, Reason.REPEATED_INTENT_SAME_OUTCOME),
        ("No results found.", Reason.EMPTY_RESULTS),
    ],
)
def test_undeclared_wording_stops_the_fifth(result: Any, reason: Reason) -> None:
    driver = Driver(UNDECLARED)

    assert searched(driver, POLICY, result, topic="lamp") == 4
    assert driver.reason is reason
    assert driver.rests_on == ["search"] * 4


def test_one_version_in_other_words_is_stagnant() -> None:
    driver = Driver(read("search", result_version="rev"))

    assert searched(driver, POLICY, {"rev": 7, "hits": ["faq"]}) == 4
    assert driver.reason is Reason.STAGNANT_READ


def test_letter_case_space_and_width_make_no_other_words() -> None:
    driver = Driver(UNDECLARED)
    words = [
        "Return Policy",
        "return  policy",
        "RETURN POLICY",
        "\uff52\uff45\uff54\uff55\uff52\uff4e policy",
        "return policy.",
    ]

    assert searched(driver, words, ["faq"]) == 4


def test_short_word_counts_where_free_text_has_stood_before() -> None:
    driver = Driver(UNDECLARED)
    words = ["lamps and lights", "lamps", "lights, lamps", "lamp lights", "lamp light"]

    assert stepped(driver.gives(["faq"], "search", of=each) for each in words) == 4


def test_short_word_counts_where_free_text_stands_by_its_name() -> None:
    driver = Driver(UNDECLARED)
    words = ["lamp", "lamps", "LAMP", "lamp.", "lamps!"]

    assert searched(driver, words, ["faq"]) == 4


def test_way_out_is_let_through_after_four() -> None:
    driver = Driver(UNDECLARED, read("open"))
    searched(driver, POLICY[:4], ["faq"])

    assert driver.gives("text", "open", id="faq")
    assert driver.gives(["news"], "search", query="opening hours in Bonn")
    assert driver.run.mode is Mode.OPEN
    assert not driver.gives(["faq"], "search", query=POLICY[4])
    assert driver.last.decision is Decision.ALLOW_READ_ONLY


def test_hint_comes_one_step_before_each() -> None:
    declared, undeclared = Driver(DECLARED), Driver(UNDECLARED)
    searched(declared, POLICY, [], topic="lamp")
    searched(undeclared, POLICY, [], topic="lamp")

    assert [hint is not None for hint in declared.hints] == [False, True, False]
    assert [hint is not None for hint in undeclared.hints] == [False, False, True, False]


# -- good work that looks like it


def test_other_answers_are_other_news() -> None:
    for spec in (DECLARED, UNDECLARED):
        driver = Driver(spec)

        assert all(
            driver.gives([f"article {number}"], "search", query=each, topic="lamp")
            for number, each in enumerate(POLICY * 2)
        )
        assert driver.is_open


def test_one_sentence_with_one_thing_after_another_is_a_list() -> None:
    driver = Driver(UNDECLARED)
    words = [
        f"is {thing} covered by the policy"
        for thing in ["wood", "iron", "glass", "tin", "wool", "silk"]
    ]

    assert searched(driver, words, {"answer": "no"}) == 6
    assert driver.is_open


@pytest.mark.parametrize(
    "things",
    [
        [f"O-{number}" for number in range(11)],
        [f"src/part{number}.py" for number in range(11)],
        ["Rome", "OldClient", "a@b.c", "x_y", "N17", "B", "q.r", "Z9", "C:D", "#12", "iOS"],
    ],
)
def test_list_of_certain_things_that_are_not_there(things: list[str]) -> None:
    driver = Driver(UNDECLARED)

    assert searched(driver, [f"notes about {thing}" for thing in things], []) == 11
    assert driver.is_open


def test_even_a_list_has_an_end() -> None:
    driver = Driver(UNDECLARED)
    words = [f"notes about O-{number}" for number in range(60)]

    assert searched(driver, words, []) == 40
    assert driver.reason is Reason.EMPTY_RESULTS
    assert set(driver.rests_on) == {"search"}


def test_seventh_empty_turn_of_undeclared_guesses_is_stopped() -> None:
    driver = Driver(UNDECLARED)
    words = (
        "refund|money back|reimburse customer|compensation rules|repay buyer|credit a return|x y"
    )

    assert searched(driver, words.split("|"), []) == 6
    assert driver.reason is Reason.EMPTY_RESULTS


def test_empty_siblings_count_once() -> None:
    driver = Driver(UNDECLARED)
    words = iter("abcdefghijklmnopqrstuvwxyz")
    for _ in range(5):
        calls = [(ok([]), "search", {"of": next(words)}) for _ in range(4)]
        assert all(driver.together(*calls))

    assert driver.run.mode is Mode.OPEN


def test_hit_between_empties_counts_them_anew() -> None:
    driver = Driver(UNDECLARED)
    for number in range(4):
        words = [
            f"{verb} a thing of kind {number}" for verb in ["buy", "sell", "rent", "lend", "mend"]
        ]
        assert searched(driver, words, []) == 5
        assert driver.gives([number], "search", query=f"kind {number} in general")


def test_other_fixed_part_is_another_question() -> None:
    driver = Driver(UNDECLARED)

    assert all(
        driver.gives(
            ["faq"], "search", query=POLICY[number % 6], shop=f"shop {number}x", page="all"
        )
        for number in range(0, 12, 6)
    )
    assert all(
        driver.gives({"n": 1}, "search", query=each, shop=number)
        for number, each in enumerate(POLICY)
    )


def test_declared_identity_outweighs_equal_words() -> None:
    driver = Driver(DECLARED)

    assert all(
        driver.gives([], "search", query="return policy", topic=f"topic {number}")
        for number in range(20)
    )
    assert driver.is_open


# -- words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("lamp return policy", "return policy for lamps"),
        ("how to return a lamp", "how do I return the lamp"),
        ("refund order", "order refund please"),
        ("Größe der Lampe", "die größe der lampe"),
        ("policy", "POLICY."),
        ("a", "a"),
    ],
)
def test_rewordings(one: str, other: str) -> None:
    assert is_reworded(wording(one), wording(other))
    assert is_reworded(wording(other), wording(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("opening hours in Rome", "opening hours in Oslo"),
        ("population in 2019", "population in 2020"),
        ("show order 17 of Anna", "the order 18 that Anna has made"),
        ("lamp policy", "shipping to Norway"),
        ("lamp", ""),
        ("price of the lamp", "colour of the box"),
    ],
)
def test_no_rewordings(one: str, other: str) -> None:
    assert not is_reworded(wording(one), wording(other))
    assert not is_reworded(wording(other), wording(one))


@pytest.mark.parametrize("piece", ["A", "o-17", "src/app.py", "UserService", "a@b.c", "x_y", "B#"])
def test_certain_things(piece: str) -> None:
    assert is_reference(piece)


@pytest.mark.parametrize("piece", ["lamp", "Lamp", "über", "well-known"])
def test_plain_words(piece: str) -> None:
    assert not is_reference(piece)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("two words", True),
        ("one", False),
        ("  padded  ", False),
        ('{"json": "is no text"}', False),
        ("[1, 2]", False),
        ("", False),
        (17, False),
        (None, False),
    ],
)
def test_free_text_is_several_words(value: Any, *, expected: bool) -> None:
    assert is_wordy(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("550e8400-e29b-41d4-a716-446655440000", True),
        ("550E8400E29B41D4A716446655440000", True),
        ("7f3kq92mzx81bb40ppwq", True),
        ("customer-number-seventeen", False),
        ("12345678901234567890", False),
        ("O-17", False),
        (17, False),
        ("two words and 1 number, long", False),
    ],
)
def test_what_looks_drawn_by_lot(value: Any, *, expected: bool) -> None:
    assert is_random(value) is expected


def test_named_things_are_found_in_texts() -> None:
    text = "Run `rm -rf /data/cache` on web1.example.org, please (order O-12345)."

    assert references(text) >= {"/data/cache", "web1.example.org", "O-12345"}
    assert references("nothing of note at all") == frozenset()


def test_enumeration_needs_one_slot_only() -> None:
    assert enumerates(wording("is wood covered"), wording("is iron covered"))
    assert not enumerates(wording("is wood covered"), wording("is iron painted"))
    assert not enumerates(wording("wood"), wording("iron")), "a lone word is no sentence"
    assert not enumerates(wording("is lamp covered"), wording("is lamps covered"))
    assert names_another(wording("order O-1 late"), wording("order O-2 late"))
    assert not names_another(wording("is wood covered"), wording("is iron covered"))


@given(TEXT, st.randoms(use_true_random=False))
def test_order_case_and_marks_never_make_another_text(
    words: list[str], draw: random.Random
) -> None:
    again = [draw.choice([str.lower, str.upper, str.title])(word) for word in words]
    marked = [draw.choice(["{}", "{},", "({})", "{}!"]).format(word) for word in again]

    assert is_reworded(wording(" ".join(words)), wording("  ".join(marked)))


@given(TEXT, TEXT)
def test_rewording_has_no_direction(one: list[str], other: list[str]) -> None:
    first, second = wording(" ".join(one)), wording(" ".join(other))

    assert is_reworded(first, second) == is_reworded(second, first)
    assert enumerates(first, second) == enumerates(second, first)
    assert is_reworded(first, first)


@given(st.text(), st.text())
def test_no_text_is_too_strange(one: str, other: str) -> None:
    first, second = wording(one), wording(other)

    assert is_reworded(first, first)
    assert is_reworded(first, second) == is_reworded(second, first)
    assert isinstance(references(one + other), frozenset)


# -- proposals without their free text


def loosened(*calls: dict[str, Any], name: str = "search") -> list[Any]:
    free = FreeText()
    spec = read(name)
    return [
        free.loosen(ToolCall(call_id=str(number), tool=name, arguments=arguments), spec)
        for number, arguments in enumerate(calls)
    ]


def test_nonces_and_talk_are_no_part_of_it() -> None:
    one, other = loosened(
        {"id": 7, "request_id": "a", "reasoning": "first I look"},
        {"id": 7, "request_id": "b", "reasoning": "now again"},
    )

    assert one.rewords(other)


def test_free_text_beside_other_values_is_another_call() -> None:
    one, other, third = loosened(
        {"shop": 1, "query": "lamp policy"},
        {"shop": 2, "query": "lamp policy"},
        {"shop": 1, "query": "the policy of lamps"},
    )

    assert not one.rewords(other)
    assert one.rewords(third)


def test_drawn_id_alone_is_what_is_asked_for() -> None:
    one, other = loosened(
        {"id": "550e8400-e29b-41d4-a716-446655440000"},
        {"id": "550e8400-e29b-41d4-a716-446655440001"},
    )

    assert not one.rewords(other)


def test_drawn_id_beside_what_is_asked_for_may_be_a_nonce() -> None:
    driver = Driver(UNDECLARED)
    ids = [f"550e8400-e29b-41d4-a716-44665544000{number}" for number in range(9)]

    assert stepped(driver.gives(["a"], "search", of="lamp", mark=each) for each in ids) == 4
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME


def test_drawn_ids_that_the_run_was_shown_are_things() -> None:
    driver = Driver(UNDECLARED, read("list"))
    ids = [f"550e8400-e29b-41d4-a716-44665544000{number}" for number in range(9)]
    driver.gives({"found": ids}, "list")

    assert all(driver.gives({"state": "open"}, "search", field="state", id=each) for each in ids)
    assert driver.is_open


# -- in general


@settings(max_examples=40)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=25), st.booleans())
def test_new_answers_never_trip_whatever_is_asked(queries: list[str], declared: bool) -> None:  # noqa: FBT001 - drawn
    driver = Driver(DECLARED if declared else UNDECLARED)

    for number, query in enumerate(queries):
        assert driver.gives({"hits": [number]}, "search", topic="t", query=query)
    assert driver.is_open


@settings(max_examples=40)
@given(st.permutations(range(12)), st.booleans())
def test_order_in_which_different_things_are_read_is_of_no_weight(
    numbers: list[int],
    same: bool,  # noqa: FBT001 - drawn
) -> None:
    driver = Driver(read("get"))

    for number in numbers:
        assert driver.gives("in order" if same else number, "get", order=f"O-{number}")
    assert driver.is_open
