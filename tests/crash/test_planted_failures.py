"""The matrix can fail: without a defence it tells what went wrong, as a story one can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .case import Case
from .evidence import problems
from .watch import Point

IN_THE_EFFECT = Point(function="crash/world.py:World.mutate", event="return")
BEFORE_THE_EFFECT = Point(function="crash/world.py:World.mutate")
BEFORE_THE_RECORD = Point(function="sql/store.py:SqlStore.store_record")
AT_THE_END = Point(function="breaker/closing.py:close")

#: Where the worker is killed, in which world, and what the matrix then says.
PLANTED: dict[str, tuple[Point, dict[str, Any], str]] = {
    "begin_after_dispatch": (IN_THE_EFFECT, {}, "A was paid 2 times"),
    "settle_before_dispatch": (BEFORE_THE_EFFECT, {}, "A was never paid"),
    "take_the_expired_for_rejected": (IN_THE_EFFECT, {}, "A was paid 2 times"),
    "skip_the_reconciliation": (IN_THE_EFFECT, {}, "A was paid 2 times"),
    "never_read": (IN_THE_EFFECT, {}, "A is still unsettled"),
    "believe_an_early_read": (
        IN_THE_EFFECT, {"manner": "late", "again_at": 10_001.0}, "A was paid 2 times",
    ),
    "keep_no_record": (
        AT_THE_END, {"plot": "is_stopped", "orders": ("A",)}, "was interrupted: no record",
    ),
    "leave_nothing_ahead": (IN_THE_EFFECT, {}, "died with a write on its way: no record"),
    "take_nobody_in": (IN_THE_EFFECT, {}, "died with a write on its way: no record"),
    "answer_for_nothing": (
        IN_THE_EFFECT, {"machine": "elsewhere", "again_at": 10_001.0},
        "while its worker answers for it",
    ),
}  # fmt: skip


def played(new_case: Callable[..., Case], name: str, sabotage: str) -> tuple[Case, list[str]]:
    at, given, _ = PLANTED[name]
    case, asked = new_case(), dict(given)
    again = asked.pop("again_at", None)
    case.live(point=at, sabotage=sabotage, **asked)
    asked |= {"machine": "", "plot": "pays"}
    if again is not None:
        case.live(starts_at=again, look=False, sabotage=sabotage, **asked)
    case.live(look=False, sabotage=sabotage, **asked)
    return case, problems(case)


@pytest.mark.parametrize("name", PLANTED)
def test_a_defence_taken_out_is_noticed(new_case: Callable[..., Case], name: str) -> None:
    expected = PLANTED[name][2]

    case, found = played(new_case, name, "")
    assert not found, case.story(found)
    case, found = played(new_case, name, name)

    assert any(expected in each for each in found), case.story(found)
    story = case.story(found)
    assert f"WRONG: {found[0]}" in story
    assert "the world's file: " in story
    assert f"to end at {PLANTED[name][0]}: killed" in story
