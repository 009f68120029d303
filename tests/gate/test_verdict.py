"""The gate's verdict, by example and by property."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.gate import Verdict
from pytest_tripwire.oracle import SEVERITY, Broken, Cell, State

from .conftest import decided_of

Make = Callable[..., Cell]

AGENTS, CASES = ("a", "b"), ("x", "y")


def verdict(*cells: Cell, **more: Any) -> Verdict:
    return decided_of(cells, **{"declared": ("a",), "catalogue": ("x",), **more})


def states(of: Verdict) -> dict[tuple[str, str], str]:
    return {(row.agent, row.case): str(row.state) for row in of.rows}


def test_contained_passes(cell: Make) -> None:
    assert verdict(cell()).passed


@pytest.mark.parametrize("state", ["escaped", "inconclusive", "not run"])
def test_any_other_state_fails(cell: Make, state: str) -> None:
    decided = verdict(cell(state=state))

    assert not decided.passed
    assert [row.state for row in decided.failing] == [state]


def test_the_denominator_is_declared_agents_times_catalogue(cell: Make) -> None:
    decided = verdict(cell(), declared=AGENTS, collected=("z",), catalogue=CASES)

    assert states(decided) == {
        ("a", "x"): "contained",
        ("a", "y"): "not run",
        ("b", "x"): "not run",
        ("b", "y"): "not run",
    }
    assert decided.agents_declared
    assert not decided.passed


def test_undeclared_agents_are_those_collected_and_those_that_have_cells(cell: Make) -> None:
    decided = verdict(cell(agent="c"), cell(agent="b"), declared=(), collected=("z", "b"))

    assert list(states(decided)) == [("z", "x"), ("b", "x"), ("c", "x")]
    assert not decided.agents_declared


def test_an_agent_is_counted_once(cell: Make) -> None:
    assert len(verdict(cell(), cell(), declared=(), collected=("a", "a")).rows) == 1


def test_cells_beside_the_denominator_are_shown_and_can_only_worsen(cell: Make) -> None:
    good, bad = cell(agent="other"), cell(case="own", state="escaped")

    shown = verdict(cell(), good)
    assert [(row.agent, row.counted) for row in shown.rows] == [("a", True), ("other", False)]
    assert shown.passed
    assert not verdict(cell(), good, bad).passed


@pytest.mark.parametrize(
    ("several", "worst"),
    [
        (("contained", "escaped", "inconclusive"), "escaped"),
        (("inconclusive", "contained"), "inconclusive"),
        (("contained", "not run"), "not run"),
        (("contained", "contained"), "contained"),
    ],
)
def test_of_several_cells_the_worst_counts(
    cell: Make, several: tuple[str, ...], worst: str
) -> None:
    decided = verdict(*(cell(state=state) for state in several))

    assert states(decided) == {("a", "x"): worst}


def test_nothing_at_all_fails() -> None:
    decided = verdict(declared=())

    assert not decided.passed
    assert decided.problems == (
        "no agent was collected, so nothing was judged; declare `tripwire_agents`",
    )


def test_an_empty_catalogue_fails() -> None:
    assert not verdict(catalogue=()).passed


def test_the_protection_has_to_be_declared_somewhere(cell: Make) -> None:
    assert not verdict(cell(), protection=None).passed
    assert not verdict(cell(declared=True), cell(), protection=None).passed
    assert verdict(cell(declared=True), cell(declared=True), protection=None).passed


def test_nameless_tests_fail_and_are_named_where_the_agents_are_declared(cell: Make) -> None:
    (told,) = verdict(cell(), nameless=2).problems
    assert told.startswith("nameless 0 and 1 more were collected and did not come to their end")
    assert told.endswith("only a run could tell which cells they are about")
    (alone,) = verdict(cell(), nameless=1).problems
    assert alone.startswith("nameless 0 was collected and did not come to its end")
    assert verdict(cell(), nameless=2, finished=("nameless 0", "nameless 1")).passed
    decided = verdict(cell(), declared=(), nameless=3)
    assert not decided.passed
    assert decided.problems[0].startswith("3 collected tests never came to say which agent")


def test_a_row_tells_what_broke_first_else_how_it_ended(cell: Make) -> None:
    broken = (Broken(check="first", message="this", seq=3), Broken(check="second", message="that"))
    decided = verdict(
        cell(state="escaped", broken=broken, ending="answered"), cell(agent="b", ending="answered")
    )

    assert [row.detail for row in decided.rows] == ["first: this", "answered"]
    assert [row.protection for row in decided.rows] == ["harness", "harness"]


def test_a_declaration_that_leaves_nothing_says_so(cell: Make) -> None:
    told = "`tripwire_not_applicable` says that no agent has a part in any of the standard cases"

    assert verdict(bare=[("a", "x")]).problems == (
        f"{told}, so that nothing is left to be judged: name only those without a part",
    )
    ran = [cell(), cell(agent="b"), cell(agent="b", case="own")]
    bare = [("a", "x"), ("b", "x")]
    assert verdict(ran[0], declared=AGENTS, bare=bare).problems == (
        f"{told}, yet a on x was run: take out of it what is run",
    )
    assert verdict(*ran, declared=AGENTS, bare=bare).problems == (
        f"{told}, yet a on x and 1 more were run: take out of it what is run",
    )
    assert verdict(*ran, declared=AGENTS, bare=bare[:1]).problems == ()


# -- properties


texts = st.sampled_from(["", "a", "b"])
brokens = st.lists(st.builds(Broken, check=texts, message=texts), max_size=2)
cells = st.builds(
    Cell,
    agent=st.sampled_from((*AGENTS, "c")),
    case=st.sampled_from((*CASES, "z")),
    state=st.sampled_from(State),
    protection=st.sampled_from(["harness", "own"]),
    ending=st.sampled_from(["answered", "crashed"]),
    declared=st.booleans(),
    broken=brokens.map(tuple),
)
several = st.lists(cells, max_size=8)
inputs = st.fixed_dictionaries(
    {
        "declared": st.sampled_from([(), ("a",), AGENTS]),
        "collected": st.sampled_from([(), ("b",), ("b", "a")]),
        "catalogue": st.just(CASES),
        "protection": st.sampled_from([None, "harness"]),
        "nameless": st.integers(0, 1),
        "finished": st.sampled_from([(), ("nameless 0",)]),
    }
)


@settings(max_examples=150, deadline=None)
@given(inputs, several, cells, st.randoms(use_true_random=False))
def test_of_any_cells(given: Any, found: list[Cell], more: Cell, random: Any) -> None:
    """What each of these says of a verdict shows in any, and to make one up takes the longest."""
    decided = decided_of(found, **given)

    assert decided_of(random.sample(found, len(found)), **given) == decided, "by order"
    every_cell_is_in_a_row(decided, found)
    if decided.passed:
        every_agent_was_contained_in_every_case(given, found)
    another_cell_never_betters(decided, more, decided_of((*found, more), **given))


def every_cell_is_in_a_row(decided: Verdict, found: list[Cell]) -> None:
    rows = [(row.agent, row.case) for row in decided.rows]
    assert len(rows) == len(set(rows))
    assert {(cell.agent, cell.case) for cell in found} <= set(rows)


def every_agent_was_contained_in_every_case(given: Any, found: list[Cell]) -> None:
    agents = given["declared"] or {*given["collected"], *(cell.agent for cell in found)}
    assert agents
    for agent in agents:
        for case in CASES:
            mine = [each for each in found if (each.agent, each.case) == (agent, case)]
            assert mine
            assert all(each.state is State.CONTAINED for each in mine)
    assert all(each.state is State.CONTAINED for each in found)
    assert given["protection"] or all(each.declared for each in found)


def another_cell_never_betters(decided: Verdict, more: Cell, after: Verdict) -> None:
    """Neither a row, nor the verdict if it is a bad one."""
    assert more.state is State.CONTAINED or not after.passed
    before = {(row.agent, row.case): row for row in decided.rows}
    for row in after.rows:
        old = before.get((row.agent, row.case))
        if old is not None and old.cell is not None:
            assert SEVERITY.index(State(row.state)) >= SEVERITY.index(State(old.state))


def test_the_protections_that_cells_ran_with_are_named_and_have_to_be_the_declared_one(
    cell: Make,
) -> None:
    decided = verdict(cell(protection="own"), cell(agent="b", case="y"), protection="own")

    assert decided.protections == ("harness", "own")
    assert decided.problems == (
        (
            "the protection own is declared, but b ran y with harness; `tripwire_protection` has "
            "to give what is declared"
        ),
    )
    assert not verdict(cell(protection="own"), protection="harness").passed
    assert verdict(cell(protection="own"), protection="own").passed
