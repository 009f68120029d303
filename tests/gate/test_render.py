"""The verdict as text: it never crashes, and says what the verdict says."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.gate import Row, Standing, Verdict, render
from pytest_tripwire.oracle import Broken, Cell
from pytest_tripwire.timeline import Delivery, Dispatch, Effect

Make = Callable[..., Cell]


def row(cell: Cell | None = None, **fields: object) -> Row:
    base = {"agent": "a", "case": "x", "state": Standing.CONTAINED, "protection": "own"}
    return Row(cell=cell, **{**base, **fields})  # type: ignore[arg-type]


def test_the_table_is_aligned_under_its_head() -> None:
    verdict = Verdict(
        rows=(
            row(agent="shop/refunds", detail="answered"),
            row(state=Standing.NOT_RUN, protection=""),
        )
    )

    assert list(render.table(verdict, whole=True)) == [
        ("", "agent         case  state      protection  detail"),
        ("contained", "shop/refunds  x     contained  own         answered"),
        ("not run", "a             x     not run    -"),
    ]


def test_the_word_of_the_gate_names_each_reason() -> None:
    verdict = Verdict(
        rows=(
            row(),
            row(state=Standing.ESCAPED, detail="pays\ntwice"),
            row(state=Standing.NOT_RUN),
        ),
        problems=("nobody says so",),
    )

    assert list(render.gate(verdict)) == [
        "tripwire gate FAILED: 1 of 3 cells contained",
        "  escaped: a on x: pays twice",
        "  not run: a on x",
        "  nobody says so",
        "  (counted: the agents that were collected, as the project declares none)",
    ]


def test_a_passing_gate_with_declared_agents_is_one_line() -> None:
    verdict = Verdict(rows=(row(),), agents_declared=True)

    assert list(render.gate(verdict)) == ["tripwire gate passed: 1 of 1 cells contained"]


def test_a_gate_that_fails_though_all_are_contained_says_but() -> None:
    verdict = Verdict(rows=(row(),), problems=("nobody says so",), agents_declared=True)

    assert list(render.gate(verdict)) == [
        "tripwire gate FAILED: 1 of 1 cells contained, but",
        "  nobody says so",
    ]


def test_long_details_are_cut() -> None:
    (_, line) = list(render.table(Verdict(rows=(row(detail="word " * 100),)), whole=True))[1]

    assert line.endswith("...")
    assert len(line) < 140


def test_timelines_mark_the_event_that_broke_the_first_demand(cell: Make) -> None:
    events = (
        Dispatch(seq=1, tool="pay", role="write", effect=Effect.WRITE, resource="order 1"),
        Delivery(seq=2, at=30.0, dispatch=1, told="lost"),
    )
    judged = cell(events=events, broken=(Broken(check="first", message="", seq=1),))
    lines = list(render.timelines(Verdict(rows=(row(judged), row(cell()), row(None)))))

    assert lines == [
        "a on x: contained",
        (
            ">  1      0s  tool     pay(order 1) dispatched [write]   <-- should not have "
            "happened\n"
            "   2     30s  tool     answer to 1: lost"
        ),
    ]


# -- properties


rows = st.builds(
    Row,
    agent=st.text(),
    case=st.text(),
    state=st.sampled_from(Standing),
    protection=st.text(),
    detail=st.text(),
    cell=st.none(),
)
verdicts = st.builds(
    Verdict,
    rows=st.lists(rows, max_size=5).map(tuple),
    problems=st.lists(st.text(), max_size=2).map(tuple),
    agents_declared=st.booleans(),
)


@given(verdicts)
def test_any_text_can_be_rendered(verdict: Verdict) -> None:
    states_agree(verdict)
    words_and_counts_agree(verdict)
    no_text_breaks_a_row_into_two(verdict)


def states_agree(verdict: Verdict) -> None:
    head, *table = render.table(verdict, whole=True)

    assert head[0] == ""
    assert [state for state, _ in table] == [str(row.state) for row in verdict.rows]
    assert all(str(row.state) in line for row, (_, line) in zip(verdict.rows, table, strict=True))
    assert list(render.timelines(verdict)) == []


def words_and_counts_agree(verdict: Verdict) -> None:
    word, *reasons = render.gate(verdict)

    good = sum(row.state is Standing.CONTAINED for row in verdict.rows)
    passed = "passed" if verdict.passed else "FAILED"
    # A reader who counts has to be told that what is wrong is not in the count.
    but = "" if verdict.passed or verdict.failing else ", but"
    of = sum(row.state is not Standing.NOT_APPLICABLE for row in verdict.rows)
    known = sum(row.state is Standing.KNOWN_FAILING for row in verdict.rows)
    excused = f", {known} known failing" if known else ""
    assert word == f"tripwire gate {passed}: {good} of {of} cells contained{excused}{but}"
    expected = len(verdict.failing) + len(verdict.problems) + (not verdict.agents_declared)
    assert len(reasons) == expected


def no_text_breaks_a_row_into_two(verdict: Verdict) -> None:
    lines = [line for _, line in render.table(verdict, whole=True)]
    lines += list(render.gate(Verdict(rows=verdict.rows, agents_declared=True)))

    assert all(len(line.splitlines()) == 1 for line in lines)


def test_what_was_not_run_is_only_counted_unless_the_whole_is_asked_for() -> None:
    rows = (
        row(case="a"),
        row(case="b", state=Standing.NOT_RUN),
        row(case="c", state=Standing.NOT_RUN),
    )
    verdict = Verdict(rows=rows)

    part = [line for _, line in render.table(verdict, whole=False)]
    whole = [line for _, line in render.table(verdict, whole=True)]

    assert [line.split()[1] for line in part[1:2]] == ["a"]
    assert part[2:] == ["(2 more of the standard cases were not run)"]
    assert [line.split()[1] for line in whole[1:]] == ["a", "b", "c"]


def test_when_nothing_ran_everything_is_shown() -> None:
    verdict = Verdict(rows=(row(state=Standing.NOT_RUN),))

    assert len(list(render.table(verdict, whole=False))) == 2


def test_the_word_of_the_gate_names_what_was_under_test() -> None:
    one = Verdict(rows=(row(),), agents_declared=True, protections=("own",))
    two = Verdict(rows=(row(),), agents_declared=True, protections=("harness", "own"))

    assert list(render.gate(one)) == [
        "tripwire gate passed: 1 of 1 cells contained (protection: own)"
    ]
    assert list(render.gate(two)) == [
        "tripwire gate passed: 1 of 1 cells contained (protections: harness, own)"
    ]
