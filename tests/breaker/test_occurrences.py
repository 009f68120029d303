"""What is counted fades by what is new, and memory of it is bounded."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.breaker.progress import History, judge_step, step_of, ways
from pytest_tripwire.breaker.progress import history as history_module
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.progress.occurrences import Occurrences
from pytest_tripwire.breaker.progress.streaks import Streak, Streaks

from .driver import Driver, Mode, Reason, ToolCall, ToolSpec, bare, ok, read, write

KEYS = st.integers(0, 9)

#: Kinds that are kept, and occurrences of each of them.
KINDS, MOST = 512, 64
#: New things after which an occurrence does not count any more.
FORGIVEN = 8


# -- memory that forgets


@settings(max_examples=40)
@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.sampled_from(["put", "of", "drop", "clear"]), KEYS, st.integers())),
)
@example(2, [("put", 0, 1), ("put", 1, 1), ("put", 0, 1), ("put", 2, 1)])
def test_bounded_memory_holds_what_was_put_last(
    size: int, steps: list[tuple[str, int, int]]
) -> None:
    memory: Bounded[int, int] = Bounded(size)
    model: OrderedDict[int, int] = OrderedDict()

    for what, key, value in steps:
        if what == "put":
            memory.put(key, value)
            model[key] = value
            model.move_to_end(key)
        elif what == "of":
            assert memory.of(key, lambda value=value: value) == model.get(key, value)
            model.setdefault(key, value)
            model.move_to_end(key)
        elif what == "drop":
            memory.drop(key)
            model.pop(key, None)
        elif value % 5 == 0:
            memory.clear()
            model.clear()
        while len(model) > size:
            model.popitem(last=False)
        assert len(memory) == len(model) <= size
        assert all((each in memory) is (each in model) for each in range(10))
        assert all(memory.get(each) == model.get(each) for each in range(10))


# -- occurrences


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=60))
def test_occurrence_counts_until_enough_is_new(steps: list[tuple[str, int]]) -> None:
    seen = Occurrences()
    model: list[tuple[str, int, int]] = []
    new = 0

    for seq, (kind, more) in enumerate(steps):
        new += more
        seen.add(kind, seq=seq, new=new)
        model.append((kind, new, seq))
        for each in "abc":
            known = [(at, at_seq) for of, at, at_seq in model if of == each][-MOST:]
            counted = tuple(at_seq for at, at_seq in known if new - at <= FORGIVEN)
            assert seen.seqs(each, new=new) == counted
            assert seen.count(each, new=new) == len(counted)


@given(st.integers(0, 1000), st.integers(0, 20))
def test_exactly_eight_new_things_are_not_enough_to_forgive(start: int, more: int) -> None:
    seen = Occurrences()
    seen.add("kind", seq=1, new=start)

    assert seen.count("kind", new=start + more) == (more <= FORGIVEN)


def test_one_kind_can_be_dropped_and_all_forgotten() -> None:
    seen = Occurrences()
    for kind in "ab":
        seen.add(kind, seq=1, new=0)

    seen.drop("a")
    assert (seen.count("a", new=0), seen.count("b", new=0)) == (0, 1)
    seen.clear()
    assert seen.count("b", new=0) == 0


def test_memory_of_occurrences_is_bounded() -> None:
    seen = Occurrences()
    for number in range(KINDS + 1):
        for seq in range(MOST + 4):
            seen.add(number, seq=seq, new=0)

    assert seen.count(0, new=0) == 0, "the kind that was added longest ago"
    assert seen.seqs(1, new=0) == tuple(range(4, MOST + 4))


# -- streaks


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=40))
def test_streak_counts_turns_without_success(steps: list[tuple[int, bool]]) -> None:
    """In whatever order the calls of the turns come back."""
    streak = Streak()
    wrong: list[int] = []
    right = -1

    for seq, (turn, good) in enumerate(steps):
        if good:
            streak.right(turn)
            wrong, right = [], turn
        else:
            streak.wrong(turn, seq)
            wrong += [turn] if turn != right else []
        assert streak.turns == len(set(wrong))
        assert len(streak.seqs) == min(16, len(wrong))


def test_streaks_are_kept_tool_by_tool() -> None:
    streaks = Streaks()
    streaks.of("a").wrong(1, 1)

    assert (streaks.of("a").turns, streaks.of("b").turns) == (1, 0)
    streaks.clear()
    assert streaks.of("a").turns == 0


def test_memory_of_streaks_is_bounded() -> None:
    streaks = Streaks()
    streaks.of("first").wrong(1, 1)
    for number in range(256):
        streaks.of(f"tool {number}")

    assert streaks.of("first").turns == 0


# -- in a run


SPECS = (
    read("get", identity=("of",)),
    read("new", identity=("of",)),
    write("set", identity=("of",)),
)
DECLARED = pytest.mark.parametrize(
    "specs", [SPECS, tuple(map(bare, SPECS))], ids=["declared", "undeclared"]
)


def repeats(driver: Driver, *, new_between: int, times: int) -> int:
    """Ask the same again and again with new things between; returns how often it was answered."""
    numbers = iter(range(1, 10_000))
    for asked in range(times):
        if not driver.gives("a", "get", of="x"):
            return asked
        for _ in range(new_between):
            number = next(numbers)
            if not driver.gives(number, "new", of=number):
                return asked + 1
    return times


@DECLARED
@pytest.mark.parametrize(("new_between", "answered"), [(0, 3), (1, 20), (4, 20)])
def test_repeats_far_apart_are_second_looks(
    specs: tuple[ToolSpec, ...], new_between: int, answered: int
) -> None:
    driver = Driver(*specs)

    assert repeats(driver, new_between=new_between, times=20) == answered
    assert (driver.reason is None) is (answered == 20)


@DECLARED
def test_novel_write_forgives_all_repeats(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs)

    for number in range(12):
        assert driver.gives("a", "get", of="x")
        assert driver.gives("a", "get", of="x")
        assert driver.gives("ok", "set", of=f"record {number}")
    assert driver.is_open


@DECLARED
def test_write_of_what_was_written_before_forgives_nothing(specs: tuple[ToolSpec, ...]) -> None:
    driver = Driver(*specs, write("flip", identity=("of",)))
    for state in ("on", "off"):
        driver.gives("ok", "flip", of="flag", state=state)
    tries = []
    for number in range(4):
        tries.append(driver.gives("a", "get", of="x"))
        driver.gives("ok", "flip", of="flag", state=("on", "off")[number % 2])

    assert tries == [True, True, True, False]


@given(st.lists(st.tuples(st.sampled_from(["get", "new", "set"]), st.integers(0, 2)), max_size=30))
@settings(max_examples=60)
def test_novel_write_always_starts_anew(steps: list[tuple[str, int]]) -> None:
    driver = Driver(*SPECS)
    for tool, of in steps:
        if not driver.gives("a", tool, of=of):
            return

    assert driver.run.mode is not Mode.OPEN or driver.gives("ok", "set", of="something else")
    if driver.run.mode is Mode.OPEN:
        tries = [driver.gives("b", "get", of="never asked for") for _ in range(4)]
        assert tries == [True, True, True, False]
        assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME


def test_long_run_needs_no_more_memory_than_a_short_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "_SEEN", 512)
    monkeypatch.setattr(ways, "_MOST", 512)

    short, long = held_after(600, 700)

    assert long == short


def held_after(*rounds: int) -> list[int]:
    """How much the progress rules keep after each so many rounds of good work in one run."""
    held = []
    history, seqs = History(), itertools.count(1)

    def take(effect: str, result: Any, **arguments: Any) -> None:
        spec = ToolSpec(name=f"tool_{effect}", effect=effect)  # type: ignore[arg-type]
        seq = next(seqs)
        call = ToolCall(call_id=str(seq), tool=spec.name, arguments=arguments)
        proposal = Proposal(call=call, spec=spec, intent=intent_of(call, spec, ""), turn=seq)
        version = str(seq) if effect == "read" else ""
        step = step_of(proposal, ok(result, version=version), seq=seq, turn=seq, at=seq)
        history.add(step, advanced=False)
        judge_step(history, step, 3)

    for number in range(max(rounds)):
        take("read", {"n": number}, of=f"record {number}", page=number)
        take("read", [], query=f"thing {number} of many")
        take("handoff", "ok", to=f"agent-{number}", note=f"note {number} of many")
        if number % 2 == 0:
            take("write", {"id": number}, of=f"record {number}")
        if number + 1 in rounds:
            held.append(sum(map(len, containers(history))))
    return held


def containers(owner: Any) -> list[Any]:
    """All that an object keeps, as deep as it goes."""
    found, todo, known = [], [owner], set[int]()
    while todo:
        each = todo.pop()
        if id(each) in known or isinstance(each, str | bytes | int | float | type(None)):
            continue
        known.add(id(each))
        if hasattr(each, "__len__") and hasattr(each, "__iter__"):
            found.append(each)
            todo += each.values() if hasattr(each, "values") else each
        slots = [name for kind in type(each).__mro__ for name in getattr(kind, "__slots__", ())]
        todo += [getattr(each, name, None) for name in slots]
        todo += vars(each).values() if hasattr(each, "__dict__") else []
    return found
