"""What counts as getting nowhere, rule by rule, each beside the good work that looks like it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import (
    Breaker,
    Decision,
    Mode,
    Outcome,
    Reason,
    RunBudget,
    Status,
    ToolCall,
    ToolSpec,
    Verdict,
)
from pytest_tripwire.breaker.emptiness import is_empty
from pytest_tripwire.guard.nudge import FIELD, with_hint

from ..clock import Clock  # noqa: TID252 - no package to import from

SPECS = {
    "search": ToolSpec(name="search", effect="read", identity=("topic",), wording=("query",)),
    "get": ToolSpec(name="get", effect="read", result_version="version"),
    "list": ToolSpec(name="list", effect="read"),
    "why": ToolSpec(name="why", effect="read", can_diagnose=True),
    "job": ToolSpec(name="job", effect="read", poll=True),
    "set": ToolSpec(name="set", effect="write", identity=("name",), definite_failures=("Refused",)),
    "hand": ToolSpec(
        name="hand",
        effect="handoff",
        identity=("to", "task"),
        wording=("note",),
        required_fields=("found",),
    ),
}


class Driver:
    """One run, driven call by call."""

    def __init__(self, budget: RunBudget | None = None, **options: Any) -> None:
        breaker = Breaker(specs=SPECS, budget=budget, clock=Clock())
        self.run = breaker.run(**options)
        self.hints: list[str | None] = []
        self._numbers = itertools.count(1)

    def propose(self, tool: str, **arguments: Any) -> tuple[ToolCall, Verdict]:
        call = ToolCall(call_id=f"c{next(self._numbers)}", tool=tool, arguments=arguments)
        return call, self.run.decide(call)

    def fails(self, tool: str, status: Status, error: str = "Refused", **arguments: Any) -> bool:
        """Propose a call that fails if it is let through; returns whether it was."""
        return self._settled(tool, Outcome(status=status, error=error), arguments)

    def gives(self, result: Any, tool: str, **arguments: Any) -> bool:
        """Propose a call that gives a result if it is let through; returns whether it was."""
        return self._settled(tool, Outcome(status=Status.OK, result=result), arguments)

    def _settled(self, tool: str, outcome: Outcome, arguments: dict[str, Any]) -> bool:
        call, verdict = self.propose(tool, **arguments)
        if verdict.allowed:
            self.hints.append(self.run.settle(call, outcome))
        return verdict.allowed

    def executed(self, steps: Iterable[Callable[[], bool]]) -> int:
        """How many of these calls are let through before one is not."""
        return sum(1 for _ in itertools.takewhile(lambda step: step(), steps))

    @property
    def reason(self) -> Reason | None:
        return self.run.last_reason


@pytest.fixture
def make() -> type[Driver]:
    return Driver


@pytest.fixture
def driver() -> Driver:
    return Driver()


def reads(driver: Driver, *results: Any) -> list[bool]:
    """One read again and again, with these results."""
    return [driver.gives(result, "list", of="orders") for result in results]


# -- staged


def test_three_execute_and_the_fourth_does_not(driver: Driver) -> None:
    assert reads(driver, ["a"], ["a"], ["a"], ["a"]) == [True, True, True, False]
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME


def test_second_fruitless_settlement_carries_the_hint(driver: Driver) -> None:
    reads(driver, ["a"], ["a"], ["a"])

    hint = driver.hints[1]
    assert driver.hints == [None, hint, None]
    assert hint is not None
    assert "If the next try brings nothing new either, this run is stopped" in hint


def test_fruitful_third_starts_the_count_anew(driver: Driver) -> None:
    assert all(reads(driver, ["a"], ["a"], ["b"], ["b"], ["b"]))
    assert driver.run.mode is not Mode.OPEN, "three of the second kind"


def test_state_that_merely_changes_back_is_not_new(driver: Driver) -> None:
    # A formatter oscillates for ever.
    results = itertools.cycle([["a"], ["b"]])

    assert reads(driver, *itertools.islice(results, 6)) == [True] * 5 + [False]


def test_counted_anywhere_and_not_only_in_a_row(driver: Driver) -> None:
    for _ in range(2):
        driver.gives(["known"], "list", of="customers")
        reads(driver, ["a"])

    assert reads(driver, ["a"], ["a"]) == [True, False]


def test_a_limit_of_ones_own(make: type[Driver]) -> None:
    driver = make(RunBudget(max_no_progress_steps=5))

    assert driver.executed(lambda: reads(driver, ["a"])[0] for _ in range(9)) == 5  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "told"),
    [
        ({"a": 1}, {"a": 1, FIELD: "hint"}),
        ({}, {FIELD: "hint"}),
        ("text", "text\n\n[hint]"),
        ([1, 2], [1, 2]),
        (None, None),
        (7, 7),
        ({FIELD: "own"}, {FIELD: "own"}),
    ],
)
def test_hint_never_takes_the_place_of_the_payload(result: Any, told: Any) -> None:
    before = repr(result)

    assert with_hint(result, "hint") == told
    assert with_hint(result, None) is result
    assert repr(result) == before


def test_guarded_tool_hands_on_payload_and_hint() -> None:
    def lookup(name: str) -> dict[str, Any]:
        return {"name": name, "total": 7}

    run = Breaker(default_effect="read").run()
    (tool,) = run.guard([lookup])
    results = [tool(name="a") for _ in range(2)]

    assert results[0] == {"name": "a", "total": 7}
    assert FIELD in results[1]
    assert {**results[1], FIELD: ""} == {**results[0], FIELD: ""}


# -- errors


def test_errors_count_by_class(driver: Driver) -> None:
    tries = (driver.fails("list", Status.TRANSIENT, "Timeout", of="x") for _ in range(4))

    assert list(tries) == [True, True, True, False]


def test_other_errors_are_other_outcomes(driver: Driver) -> None:
    errors = ["Timeout", "Reset", "Timeout", "Reset"]

    assert all(driver.fails("list", Status.TRANSIENT, error, of="x") for error in errors)


def test_throttled_read_that_recovers(driver: Driver) -> None:
    for _ in range(2):
        driver.fails("list", Status.TRANSIENT, "RateLimited", of="x")

    assert driver.gives(["found"], "list", of="x")
    assert driver.run.mode is Mode.OPEN


def test_write_that_is_never_accepted_stops(driver: Driver) -> None:
    tries = [driver.fails("set", Status.DEFINITE, name="a", value=1) for _ in range(4)]

    assert tries == [True, True, True, False]


# -- empties


def test_empty_results_in_other_words_are_one(driver: Driver) -> None:
    words = ["lamp", "a lamp", "lamps", "the lamp"]

    tries = [driver.gives({"hits": []}, "search", topic="t", query=word) for word in words]

    assert tries == [True, True, True, False]
    assert driver.reason is Reason.EMPTY_RESULTS


def test_empty_results_of_other_things_are_none_of_it(driver: Driver) -> None:
    topics = [f"topic {number}" for number in range(8)]

    assert all(driver.gives([], "search", topic=topic, query="x") for topic in topics)
    assert driver.run.mode is Mode.OPEN


def test_write_between_empties_counts_them_anew(driver: Driver) -> None:
    for number in range(6):
        assert driver.gives([], "search", topic="t", query=str(number))
        assert driver.gives("ok", "set", name=f"n{number}", value=1)


def test_much_reading_between_empties_lets_them_fade(driver: Driver) -> None:
    for number in range(30):
        if number % 5 == 0:
            assert driver.gives([], "search", topic="t", query=str(number))
        assert driver.gives([number], "list", of=number)


def test_one_new_thing_between_each_two_empties_hides_no_loop(driver: Driver) -> None:
    tries = []
    for number in range(4):
        tries.append(driver.gives([], "search", topic="t", query=str(number)))
        driver.gives([number], "list", of=number)

    assert tries == [True, True, True, False]


@pytest.mark.parametrize(
    ("result", "empty"),
    [
        (None, True),
        ([], True),
        ("  ", True),
        ({"hits": [], "total": 0}, True),
        ({"customer": None}, True),
        (False, True),
        (0, False),
        ({"balance": 0}, False),
        ({"hits": [0]}, False),
        ({"hits": [], "note": "try again"}, False),
    ],
)
def test_what_says_that_there_is_nothing(result: Any, *, empty: bool) -> None:
    assert is_empty(result) is empty


# -- versions


def test_known_version_again_is_stagnant_whatever_else_it_says(driver: Driver) -> None:
    tries = [driver.gives({"version": 3, "seen_at": n}, "get", name="a") for n in range(4)]

    assert tries == [True, True, True, False]
    assert driver.reason is Reason.STAGNANT_READ


def test_reading_again_after_ones_own_edit(driver: Driver) -> None:
    for version in range(1, 9):
        assert driver.gives({"version": version}, "get", name="a")
        assert driver.gives({}, "set", name="a", value=version)

    assert driver.run.mode is Mode.OPEN


def test_one_version_of_other_records_is_other_news(driver: Driver) -> None:
    assert all(driver.gives({"version": 1}, "get", name=name) for name in "abcdefgh")


# -- polls


def test_polls_are_bounded_by_time_only(driver: Driver) -> None:
    assert all(driver.gives("running", "job", id="j") for _ in range(50))


def test_poll_resets_no_other_count(driver: Driver) -> None:
    tries = []
    for percent in range(4):
        tries += reads(driver, ["a"])
        driver.gives({"percent": percent}, "job", id="j")

    assert tries == [True, True, True, False]


# -- hand-offs


def round_trip(driver: Driver, size: int, words: Iterable[str], **more: Any) -> int:
    """Hand a task round a ring; returns how many hand-offs are let through."""
    agents = itertools.cycle([f"agent {number}" for number in range(size)])
    steps = (
        driver.gives("accepted", "hand", to=to, task="T", note=note, **more)
        for to, note in zip(agents, words, strict=False)
    )
    return sum(1 for _ in itertools.takewhile(bool, steps))


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_ring_of_any_size_in_the_same_words(driver: Driver, size: int) -> None:
    assert round_trip(driver, size, itertools.repeat("please")) == size + 2
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_ring_of_any_size_in_ever_new_words(driver: Driver, size: int) -> None:
    words = (f"note {number}" for number in itertools.count())

    assert round_trip(driver, size, words) == size + 3


def test_hand_off_that_fills_a_field_is_work(driver: Driver) -> None:
    for number in range(20):
        to = ("billing", "shipping")[number % 2]
        assert driver.gives("ok", "hand", to=to, task="T", note="", found=f"fact {number}")


def test_field_that_only_goes_to_and_fro_is_none(driver: Driver) -> None:
    tries = [
        driver.gives("ok", "hand", to=("a", "b")[n % 2], task="T", note=str(n), found=n % 2)
        for n in range(7)
    ]

    assert tries == [True] * 5 + [False] * 2


def test_what_is_no_required_field_is_talk(driver: Driver) -> None:
    tries = [
        driver.gives("ok", "hand", to=("a", "b")[n % 2], task="T", summary=f"summary {n}")
        for n in range(6)
    ]

    assert tries == [True] * 5 + [False]


def test_chain_of_specialists_is_no_ring(driver: Driver) -> None:
    assert all(
        driver.gives("ok", "hand", to=f"agent {number}", task="T", note="next")
        for number in range(12)
    )


def test_work_between_hand_offs_counts_them_anew(driver: Driver) -> None:
    for number in range(12):
        assert driver.gives("ok", "hand", to=("a", "b")[number % 2], task="T", note="")
        assert driver.gives([number], "list", of=number)


# -- cycles


def toggles(driver: Driver, values: Iterable[Any]) -> int:
    """Write values to one record; returns how many writes are let through."""
    steps = (driver.gives({}, "set", name="flag", value=value) for value in values)
    return sum(1 for _ in itertools.takewhile(bool, steps))


@pytest.mark.parametrize("period", range(2, 9))
def test_cycle_of_writes(driver: Driver, period: int) -> None:
    allowed = toggles(driver, itertools.islice(itertools.cycle(range(period)), 60))

    assert allowed == period + max(6, 2 * period - 1)
    assert driver.reason is Reason.INTENT_CYCLE


def test_cycle_with_polls_between(driver: Driver) -> None:
    def noisy() -> Iterable[int]:
        for value in itertools.islice(itertools.cycle(range(2)), 60):
            driver.gives("running", "job", id="j")
            yield value

    assert toggles(driver, noisy()) == 2 + 6


def test_cycle_with_known_reads_between(driver: Driver) -> None:
    def noisy() -> Iterable[int]:
        for value in itertools.islice(itertools.cycle(range(2)), 60):
            if value:
                driver.gives(["known"], "list", of=f"record {value}")
            yield value

    assert toggles(driver, noisy()) <= 2 + 6


def test_value_put_back_is_no_cycle(driver: Driver) -> None:
    assert toggles(driver, ["on", "off", "on", "off"]) == 4


def test_many_writes_in_turn_are_a_batch(driver: Driver) -> None:
    assert toggles(driver, range(40)) == 40


# -- postconditions


def test_new_coverage_is_no_progress_where_postconditions_are_named(make: type[Driver]) -> None:
    driver = make(postconditions={"refunded": lambda: False})
    for number in range(2):
        reads(driver, ["a"])
        driver.gives([number], "list", of=number)

    assert reads(driver, ["a"], ["a"]) == [True, False]


def test_measure_that_advances_is_progress(make: type[Driver]) -> None:
    done = itertools.count()
    driver = make(postconditions={"orders done": lambda: next(done)})

    assert all(reads(driver, *[["a"]] * 12))


def test_measure_that_stands_or_falls_is_none(make: type[Driver]) -> None:
    values = iter([5, 4, 5, 3, 5, 5, 5])
    driver = make(postconditions={"orders done": lambda: next(values)})

    assert reads(driver, *[["a"]] * 4) == [True, True, True, False]


def test_first_call_can_advance(make: type[Driver]) -> None:
    paid: list[int] = []
    driver = make(postconditions={"paid": lambda: bool(paid)})
    reads(driver, ["a"], ["a"])
    paid.append(1)

    assert all(reads(driver, ["a"], ["a"]))


def test_what_was_true_before_advances_nothing(make: type[Driver]) -> None:
    driver = make(postconditions={"open": lambda: True})

    assert reads(driver, *[["a"]] * 4) == [True, True, True, False]


def test_postcondition_that_raises_is_not_true(make: type[Driver]) -> None:
    def broken() -> bool:
        raise LookupError("no such order yet")

    driver = make(postconditions={"paid": broken})

    assert reads(driver, ["a"]) == [True]
    assert driver.run.finish().state == "failed"


# -- after the limit


def stuck(driver: Driver) -> Driver:
    reads(driver, ["a"], ["a"], ["a"])
    assert driver.run.mode is Mode.READ_ONLY
    return driver


def test_one_diagnosing_read_and_no_second(driver: Driver) -> None:
    stuck(driver)

    assert driver.gives("because", "why", of="it")
    assert not driver.gives("because", "why", of="something else")
    assert driver.run.mode is Mode.STOPPED


def test_any_other_call_ends_the_quota(driver: Driver) -> None:
    stuck(driver)

    assert not driver.gives([], "list", of="customers")
    assert not driver.gives("because", "why", of="it")


@pytest.mark.parametrize("tool", ["set", "hand"])
def test_write_or_hand_off_stops_for_good(driver: Driver, tool: str) -> None:
    stuck(driver)

    _call, verdict = driver.propose(tool, name="a", to="b")

    assert verdict.decision is Decision.INTERRUPT
    assert verdict.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert driver.run.mode is Mode.STOPPED


def test_stop_is_sticky(driver: Driver) -> None:
    stuck(driver)
    driver.propose("set", name="a")

    for number in range(5):
        assert not driver.gives([number], "list", of=number)
    record = driver.run.close()
    assert record is not None
    assert record.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert len(record.evidence) == 3


def test_read_that_was_under_way_does_not_open_the_run(driver: Driver) -> None:
    call, _verdict = driver.propose("list", of="slow")
    stuck(driver)

    driver.run.settle(call, Outcome(status=Status.OK, result=["news"]))

    assert driver.run.mode is Mode.READ_ONLY


# -- soft and hard limits


def turns(driver: Driver, count: int, work: Callable[[int], Any]) -> int:
    """Turns with a call each; returns how many requests may be sent."""
    for number in range(count):
        if not driver.run.before_model().allowed:
            return number
        work(number)
    return count


def test_usual_turns_do_not_bind_while_something_new_comes(make: type[Driver]) -> None:
    driver = make(RunBudget(usual_turns=3))

    assert turns(driver, 30, lambda n: driver.gives([n], "list", of=n)) == 30


def test_usual_turns_bind_when_nothing_does(make: type[Driver]) -> None:
    driver = make(RunBudget(usual_turns=3))

    allowed = turns(driver, 30, lambda n: driver.gives([], "search", topic=n, query=""))

    assert allowed == 3
    assert driver.reason is Reason.TURN_BUDGET


def test_before_the_usual_number_nothing_binds(make: type[Driver]) -> None:
    driver = make(RunBudget(usual_turns=9))

    assert turns(driver, 9, lambda n: driver.gives([], "search", topic=n, query="")) == 9


def test_max_same_intent(make: type[Driver]) -> None:
    driver = make(RunBudget(max_same_intent=2))

    assert reads(driver, ["a"], ["b"], ["c"]) == [True, True, False]
    assert driver.reason is Reason.SAME_INTENT_BUDGET


def test_max_same_intent_counts_calls_under_way(make: type[Driver]) -> None:
    driver = make(RunBudget(max_same_intent=2))

    allowed = [driver.propose("list", of="orders")[1].allowed for _ in range(3)]

    assert allowed == [True, True, False]


# -- in general


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=40))
def test_nothing_stops_a_run_whose_every_step_is_new(steps: list[tuple[str, int]]) -> None:
    driver = Driver()

    for number, (name, kind) in enumerate(steps):
        match kind:
            case 0:
                assert driver.gives([number], "list", of=name)
            case 1:
                assert driver.gives({"version": number}, "get", name=name)
            case 2:
                assert driver.gives({}, "set", name=name, value=number)
            case _:
                assert driver.gives("ok", "hand", to=name, task="T", found=number)
    assert driver.run.mode is Mode.OPEN


@settings(max_examples=40)
@given(st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_everything_stops_a_run_in_which_nothing_is_new(choices: list[int]) -> None:
    driver = Driver()
    ways: list[Callable[[], bool]] = [
        lambda: driver.gives(["a"], "list", of="orders"),
        lambda: driver.gives([], "search", topic="t", query="q"),
        lambda: driver.gives({"version": 1}, "get", name="a"),
        lambda: driver.gives("ok", "hand", to="b", task="T"),
    ]

    # Each first of its kind forgives what came before: 2 + 3 + 5 + 7 steps between four firsts.
    assert sum(1 for _ in itertools.takewhile(lambda n: ways[n](), choices)) <= 2 + 3 + 5 + 7 + 4
