"""The benchmarks run, and tell what they measured. How fast anything is, is no test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def told() -> list[Any]:
    """What a run of two benchmarks tells, for a program to read."""
    only = ("--only", "fingerprint", "--only", "reports")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", *only, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    lines: list[Any] = json.loads(done.stdout)
    return lines


def test_only_what_is_asked_for_is_run(told: list[Any]) -> None:
    assert {line["benchmark"] for line in told} == {"fingerprint", "reports"}


def test_a_quick_run_tells_ratios_and_goals(told: list[Any]) -> None:
    lines = [line for line in told if line["benchmark"] == "fingerprint"]

    assert all(line["value"] > 0 for line in lines)
    assert any(line["goal"] is not None and line["met"] is not None for line in lines)


def test_the_sizes_are_those_of_whole_reports(told: list[Any]) -> None:
    """Of the example that `agent-tripwire init` writes, quick or not."""
    kib = {line["what"]: line["value"] for line in told if line["benchmark"] == "reports"}

    assert list(kib) == [
        "the page of 8 cells",
        "the report of 8 cells",
        "the page of 160 cells",
        "the report of 160 cells",
    ]
    # Twenty times the runs, and style and head only once.
    assert 10 < kib["the page of 160 cells"] / kib["the page of 8 cells"] < 20
    assert 10 < kib["the report of 160 cells"] / kib["the report of 8 cells"] <= 20


@pytest.fixture
def timing(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import timing

    return timing


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import line

    return line


class Machine:
    """A clock on which work takes as long as it says, and longer by a factor in every later round
    of two.
    """

    def __init__(self, slower: float = 1.0) -> None:
        self.now = 0.0
        self.order: list[str] = []
        self._slower = slower

    def work(self, name: str, seconds: float) -> Callable[[], Callable[[], None]]:
        def prepare() -> Callable[[], None]:
            took = seconds * self._slower ** (len(self.order) // 2)
            self.order.append(name)

            def prepared() -> None:
                self.now += took

            return prepared

        return prepare


def test_a_machine_that_slows_down_changes_no_ratio(timing: Any) -> None:
    machine = Machine(slower=2.0)
    subjects = {"one": machine.work("one", 3.0), "base": machine.work("base", 1.0)}

    times = timing.in_turns(subjects, rounds=4, clock=lambda: machine.now, collect=int)

    assert machine.now > 4 * (3.0 + 1.0)
    assert times.ratio("one", "base") == 3.0


def test_subjects_take_turns_in_going_first(timing: Any) -> None:
    machine = Machine()
    subjects = {"one": machine.work("one", 3.0), "base": machine.work("base", 1.0)}

    times = timing.in_turns(subjects, rounds=2, clock=lambda: machine.now, collect=int)

    assert machine.order == ["one", "base", "base", "one", "one", "base"]
    assert times.ratio("one", "base") == 3.0
    assert times.ratio_beyond("one", "base", "base") == 2.0


def test_what_tells_its_own_time_is_believed(timing: Any) -> None:
    subjects = {"one": lambda: lambda: 4.0, "base": lambda: lambda: 2.0}

    assert timing.in_turns(subjects, rounds=3, collect=int).ratio("one", "base") == 2.0


@pytest.mark.parametrize(
    ("value", "goal", "met"),
    [(1.0, 1.0, True), (1.1, 1.0, False), (None, 1.0, None), (1.0, None, None)],
)
def test_a_goal_is_the_most_that_is_wanted(
    line: Any,
    value: float | None,
    goal: float | None,
    met: bool | None,  # noqa: FBT001 - given by name
) -> None:
    assert line.Line(benchmark="b", what="w", value=value, goal=goal).met is met


def test_the_table_says_what_is_met_and_what_was_not_measured(line: Any) -> None:
    lines = [
        line.Line(benchmark="calls", what="one / other", value=1.234, goal=1.0),
        line.Line(benchmark="calls", what="one / third", goal=2.0, note="not installed"),
        line.Line(benchmark="memory", what="growth", value=3.0, goal=64.0, unit="KiB"),
    ]

    assert line.table(lines).splitlines() == [
        "benchmark  what         measured  goal",
        "calls      one / other      1.23  at most 1.00    NOT MET",
        "calls      one / third         -  at most 2.00    not installed",
        "memory     growth          3 KiB  at most 64 KiB  met",
    ]
