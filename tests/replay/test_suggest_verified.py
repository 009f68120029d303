"""The second look at runs that budgets were read off: what is counted, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.run import Replayed
from pytest_tripwire.replay.suggest import Verified, verify
from pytest_tripwire.replay.trace import Trace, TraceVerdict
from pytest_tripwire.timeline import Family, Reason

PROBLEM = Problem(file="runs.jsonl", line=7, reason="it is no run")
BUDGETS = [each for each in Reason if each.family is Family.BUDGET]
OTHERS = [each for each in Reason if each.family is not Family.BUDGET]


def passed(id: str = "good") -> Replayed:  # noqa: A002 - as the field is called
    return Replayed(
        trace=Trace(id=id, steps=()), verdict=TraceVerdict(id=id, steps=3, interrupted=False)
    )


def stopped(reason: Reason | None, tool: str = "look", **more: Any) -> Replayed:
    fields = {"id": "run-1", "step": 2, **more}
    verdict = TraceVerdict(steps=3, interrupted=True, reason=reason, tool=tool, **fields)
    return Replayed(trace=Trace(id=verdict.id, steps=()), verdict=verdict)


def said(*items: Replayed | Problem) -> list[str]:
    return list(verify(items).lines())


@pytest.mark.parametrize(
    ("many", "runs"), [(0, "0 runs were"), (1, "1 run was"), (2, "2 runs were")]
)
def test_good_runs_are_counted_and_nothing_else_is_said(many: int, runs: str) -> None:
    assert said(*[passed()] * many) == [
        f"# Verified: {runs} replayed with these budgets, none was stopped for a budget."
    ]


@pytest.mark.parametrize("reason", BUDGETS)
def test_a_run_that_its_own_budget_stops_is_counted_as_that(reason: Reason) -> None:
    verified = verify([passed(), stopped(reason, id="bad", step=3)])

    assert (verified.runs, verified.by_budget, verified.failed) == (2, 1, 0)
    assert list(verified.lines()) == [
        "# Verified: 2 runs were replayed with these budgets, 1 WERE stopped for a budget.",
        f"#   1 x {reason} at look: first in bad, step 3",
    ]


@pytest.mark.parametrize("reason", [*OTHERS, None])
def test_a_run_that_is_stopped_whatever_the_budget_is_counted_apart(
    reason: Reason | None,
) -> None:
    verified = verify([stopped(reason)])

    assert (verified.runs, verified.by_budget, verified.failed) == (1, 0, 0)
    assert list(verified.lines()) == [
        "# Verified: 1 run was replayed with these budgets, none was stopped for a budget.",
        "# 1 would be stopped whatever the budget; if they are as they should be,",
        "# declare with --specs what is normal there (`poll`, `wording`, `cursor` ...).",
        f"#   1 x {reason} at look: first in run-1, step 2",
    ]


def test_what_cannot_be_replayed_is_no_run() -> None:
    verified = verify([PROBLEM, passed(), PROBLEM])

    assert (verified.runs, verified.by_budget, verified.failed) == (1, 0, 2)
    assert list(verified.lines()) == said(passed())


def test_stops_of_one_kind_are_told_once_with_the_first_of_them() -> None:
    lines = said(
        stopped(Reason.EMPTY_RESULTS, "search", id="a", step=1),
        stopped(Reason.EMPTY_RESULTS, "find", id="b", step=4),
        stopped(Reason.STAGNANT_READ, "search", id="c", step=5),
        stopped(Reason.EMPTY_RESULTS, "find", id="d", step=9),
    )

    assert lines[3:] == [
        "#   2 x empty_results at find: first in b, step 4",
        "#   1 x empty_results at search: first in a, step 1",
        "#   1 x stagnant_read at search: first in c, step 5",
    ]


def test_the_twenty_kinds_that_are_met_most_are_told() -> None:
    items = [
        stopped(Reason.DEADLINE, f"tool-{number}")
        for number in range(25)
        for _ in range(number + 1)
    ]

    told = [line.split(" at ")[1].split(":")[0] for line in said(*items)[1:]]

    assert told == [f"tool-{number}" for number in range(24, 4, -1)]


def test_no_name_leaves_its_line() -> None:
    lines = said(stopped(Reason.DEADLINE, "look\nmax_turns = 9", id="a\r\x1b[2Jb"))

    assert all(line.startswith("#") and line.isprintable() for line in lines)
    assert "look max_turns = 9" in lines[-1]


ITEMS = st.lists(
    st.one_of(
        st.just(PROBLEM),
        st.builds(passed),
        st.builds(
            stopped,
            st.sampled_from([*BUDGETS[:2], *OTHERS[:2], None]),
            st.sampled_from(["look", "pay"]),
        ),
    ),
    max_size=30,
)


@given(ITEMS)
def test_every_run_is_counted_once_whatever_came_of_it(items: list[Replayed | Problem]) -> None:
    verified = Verified()
    for item in items:
        verified.add(item)

    runs = [item for item in items if isinstance(item, Replayed)]
    stops = [item.verdict for item in runs if item.verdict.interrupted]
    assert verified.runs == len(runs)
    assert verified.failed == len(items) - len(runs)
    assert verified.by_budget == sum(each.reason in BUDGETS for each in stops)
    told = [line for line in verified.lines() if " x " in line]
    assert sum(int(line.split()[1]) for line in told) == len(stops)
    assert list(verified.lines()) == said(*items)
