"""A run ends in one of five ways, and none of them rests on what the model says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Interrupted, Terminal
from pytest_tripwire.guard import BreakerRun, State
from pytest_tripwire.guard.ending import Measures
from pytest_tripwire.timeline import Finished, Timeline


class Desk:
    """A run with one tool, and the timeline that tells of it."""

    def __init__(self, **options: Any) -> None:
        self.timeline = Timeline(lambda: 0.0)
        self.done: list[str] = []
        breaker = Breaker(default_effect="write")
        self.run: BreakerRun = breaker.run(timeline=self.timeline, **options)
        self.run.guard({"pay": self.pay})

    def pay(self, order: str) -> str:
        self.done.append(order)
        if order == "lost":
            raise TimeoutError
        return order

    def told(self) -> list[tuple[str, str]]:
        return [(each.state, each.detail) for each in self.timeline.of(Finished)]


@pytest.fixture
def desk() -> Callable[..., Desk]:
    return Desk


def test_completed_when_every_postcondition_is_true(desk: Callable[..., Desk]) -> None:
    shop = desk(postconditions={"paid": lambda: bool(shop.done)})
    shop.run.call("pay", {"order": "A"})

    assert shop.run.finish() == Terminal(state=State.COMPLETED)
    assert shop.told() == [("completed", "")]


def test_failed_when_one_is_not_whatever_was_said(desk: Callable[..., Desk]) -> None:
    shop = desk(postconditions={"paid": lambda: False, "told": lambda: True})

    assert shop.run.finish().state is State.FAILED
    assert shop.told() == [("failed", "not true: paid")]


def test_end_of_the_block_finishes_an_open_run(desk: Callable[..., Desk]) -> None:
    shop = desk()
    with shop.run as run:
        run.call("pay", {"order": "A"})

    assert run.terminal == Terminal(state=State.COMPLETED)
    assert shop.told() == [("completed", "")]


def test_rejected(desk: Callable[..., Desk]) -> None:
    shop = desk()

    assert shop.run.reject("out of scope").state is State.REJECTED
    assert shop.told() == [("rejected", "out of scope")]


def test_needs_input_names_what_is_missing_and_keeps_the_question(
    desk: Callable[..., Desk],
) -> None:
    shop = desk()

    ended = shop.run.needs_input(field="date", why="policy", question="When did you buy it?")

    assert ended == Terminal(
        state=State.NEEDS_INPUT, detail="policy", field="date", question="When did you buy it?"
    )
    assert shop.told() == [("needs_input", "date")], "a question may quote anything"


def test_interrupted(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.run.interrupt("Stop.")

    with pytest.raises(Interrupted), shop.run:
        pass
    assert shop.run.terminal is not None
    assert shop.run.terminal.state is State.INTERRUPTED
    assert shop.told() == [("interrupted", "Stop.")]


def test_left_in_doubt_is_interrupted_even_if_it_asked(desk: Callable[..., Desk]) -> None:
    shop = desk()
    with pytest.raises(TimeoutError):
        shop.run.call("pay", {"order": "lost"})
    shop.run.needs_input(field="date", why="policy", question="When?")

    assert shop.run.close() is not None
    assert [state for state, _detail in shop.told()] == ["needs_input", "interrupted"]


def test_end_is_told_once(desk: Callable[..., Desk]) -> None:
    shop = desk()
    for _ in range(3):
        shop.run.finish()
        shop.run.close()

    assert len(shop.told()) == 1


def test_first_word_stands_but_for_a_completion(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.run.needs_input(field="date", why="policy", question="When?")

    assert shop.run.finish().state is State.NEEDS_INPUT
    assert shop.run.reject("no").state is State.NEEDS_INPUT


def test_no_end_without_one(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.run.call("pay", {"order": "A"})

    assert shop.run.terminal is None
    assert shop.told() == []


# -- measures


def test_measure_is_compared_with_its_best() -> None:
    values = iter([1, 3, 2, 3, 4])
    measures = Measures({"done": lambda: next(values)})

    assert [measures.advanced() for _ in range(4)] == [True, False, False, True]


def test_any_of_several_is_enough() -> None:
    state = {"a": False, "b": 0}
    measures = Measures({"a": lambda: state["a"], "b": lambda: state["b"]})
    state["b"] = 1
    assert measures.advanced()
    state["a"] = True
    assert measures.advanced()
    assert not measures.advanced()
    assert measures.unmet() == ()


def test_odd_answers_are_taken_for_true_or_false() -> None:
    answers: list[Any] = [None, ["found"]]
    measures = Measures({"found": lambda: answers.pop(0)})

    assert measures.advanced()
