"""Tries of a task."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_tripwire.breaker.tasks import Tasks


def test_a_task_is_tried_so_often_and_no_more() -> None:
    tasks = Tasks(2)
    tries = [tasks.begin("book") for _ in range(4)]

    assert [each.number for each in tries] == [1, 2, 3, 3]
    assert [each.allowed for each in tries] == [True, True, False, False]
    assert tasks.attempts() == {"book": 2}


def test_a_try_too_many_says_what_to_do_instead() -> None:
    tasks = Tasks(1)

    assert tasks.begin("book").message == ""
    message = tasks.begin("book").message
    assert "The task book was tried 1 times already" in message
    assert "another task" in message


def test_each_task_has_tries_of_its_own() -> None:
    tasks = Tasks(1)

    assert [tasks.begin(name).allowed for name in ("book", "pay", "book")] == [True, True, False]


def test_without_a_limit_tries_are_counted_only() -> None:
    tasks = Tasks(None)

    assert [tasks.begin("book").number for _ in range(50)] == list(range(1, 51))
    assert tasks.begin("book").allowed


def test_a_limit_of_zero_allows_no_try() -> None:
    tasks = Tasks(0)

    assert not tasks.begin("book").allowed
    assert tasks.attempts() == {}


def test_tries_go_on_where_they_were() -> None:
    tasks = Tasks(2)
    tasks.begin("book")
    tasks = Tasks(2, json.loads(json.dumps(tasks.attempts())))

    assert [tasks.begin("book").allowed for _ in range(2)] == [True, False]


def test_what_is_carried_over_stays_as_it_was() -> None:
    before = {"book": 1}
    Tasks(2, before).begin("book")

    assert before == {"book": 1}


@pytest.mark.parametrize("bad", ["", "  ", None, 7])
def test_a_task_needs_an_id(bad: Any) -> None:
    with pytest.raises(ValueError, match="a task needs an id"):
        Tasks(1).begin(bad)
