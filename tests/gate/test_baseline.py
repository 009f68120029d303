"""The baseline: what it takes, what it excuses, and what it never does."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.gate import BaselineError, Entry, Standing, parse
from pytest_tripwire.gate.baseline import LONGEST, REMIND
from pytest_tripwire.oracle import CHECKS, Broken, Cell

from .conftest import TODAY, decided_of

Make = Callable[..., Cell]

GOOD = """
[[known_failing]]
agent = "a"
case = "x"
check = "a good end"
reason = "the desk has no refunds yet"
issue = "https://tracker.example/7"
expires = 2031-06-01
"""


def parsed(text: str) -> tuple[Entry, ...]:
    def problem(case: str) -> str:
        return "" if case in ("x", "y") else f"there is no case {case!r}"

    return parse(text, today=TODAY, case_problem=problem, checks=CHECKS)


def entry(check: str = "a good end", *, case: str = "x", agent: str = "a", days: int = 30) -> Entry:
    return Entry(
        agent=agent,
        case=case,
        check=check,
        reason="why",
        issue="#7",
        expires=TODAY + dt.timedelta(days=days),
    )


def failing(cell: Make, *checks: str, **more: Any) -> Cell:
    broken = tuple(Broken(check=each, message="so") for each in checks)
    return cell(broken=broken, **{"state": "escaped", **more})


# -- reading


def test_an_entry_says_what_fails_why_where_and_until_when() -> None:
    (found,) = parsed(GOOD)

    assert found.key == ("a", "x")
    assert found.why == (
        "until 2031-06-01: the desk has no refunds yet (https://tracker.example/7)"
    )


def test_a_file_without_entries_is_in_order() -> None:
    assert parsed("# nothing fails\n") == ()


@pytest.mark.parametrize(
    ("line", "instead", "told"),
    [
        ('agent = "a"', "", "entry 1 (x): agent missing; an entry has agent, case, check, reason"),
        ('issue = "https://tracker.example/7"', 'issue = " "', "issue is ' ': write a text"),
        ('agent = "a"', "agent = 7", "agent is 7: write a text"),
        ('case = "x"', 'case = "z"', "there is no case 'z'"),
        ('check = "a good end"', 'check = "good"', "no demand is called 'good'; those that may"),
        ('check = "a good end"', 'check = "the test itself"', "no demand is called"),
        (
            "expires = 2031-06-01",
            'expires = "soon"',
            "expires is 'soon': write a day, without quotes and",
        ),
        ("expires = 2031-06-01", "expires = 2031-06-01T00:00:00", "write a day"),
        (
            "expires = 2031-06-01",
            "expires = 2031-08-19",
            "is more than 90 days from now: write 2031-08-18 at the latest",
        ),
        (
            'agent = "a"',
            'agent = "a"\nseverity = 1',
            "unknown name 'severity'; an entry has agent,",
        ),
        ("[[known_failing]]", "[[known_failures]]", "unknown name 'known_failures': write tables"),
        ("[[known_failing]]", "[known_failing]", "known_failing is no list of tables"),
        ("[[known_failing]]", "[[known_failing", "it is no TOML"),
    ],
)
def test_what_is_malformed_says_what_to_write(line: str, instead: str, told: str) -> None:
    with pytest.raises(BaselineError) as caught:
        parsed(GOOD.replace(line, instead))

    assert told in str(caught.value)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    broken = GOOD.replace('"x"', '"z"')

    with pytest.raises(BaselineError) as caught:
        parsed(broken + broken.replace("2031-06-01", "2099-01-01"))

    lines = str(caught.value).splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "entry 1 (a on z)",
        "entry 2 (a on z)",
        "entry 2 (a on z)",
    ]


def test_one_demand_of_a_cell_is_excused_once() -> None:
    with pytest.raises(BaselineError, match="a on x excuses 'a good end' twice: keep one"):
        parsed(GOOD + GOOD)


def test_what_the_case_itself_demands_is_called_like_it() -> None:
    assert parsed(GOOD.replace("a good end", "x"))[0].check == "x"


def test_the_last_day_that_is_allowed() -> None:
    last = TODAY + dt.timedelta(days=LONGEST)

    assert parsed(GOOD.replace("2031-06-01", str(last)))[0].expires == last


# -- judging


def test_a_known_failure_passes_and_says_so(cell: Make) -> None:
    verdict = decided_of(
        [failing(cell, "a good end")], declared=["a"], catalogue=["x"], baseline=[entry()]
    )

    (row,) = verdict.rows
    assert (row.state, verdict.passed) == (Standing.KNOWN_FAILING, True)
    assert row.detail == "until 2031-06-19: why (#7); a good end: so"


def stands(cells: list[Cell], *entries: Entry, **more: Any) -> str:
    verdict = decided_of(
        cells,
        declared=["a"],
        catalogue=["x"],
        baseline=entries,
        **{"protection": "harness", **more},
    )
    assert verdict.passed == (not verdict.failing and not verdict.problems)
    return verdict.rows[0].state


def test_it_excuses_nothing_else(cell: Make) -> None:
    bad = failing(cell, "a good end")

    assert stands([failing(cell, "a good end", "x")], entry()) == "escaped"
    assert stands([bad, failing(cell, "x")], entry()) == "escaped"
    assert stands([bad], entry(case="y")) == "escaped"
    assert stands([bad], entry(agent="b")) == "escaped"
    assert stands([cell(state="escaped")], entry()) == "escaped"
    assert stands([], entry()) == "not run"
    assert stands([failing(cell, "a good end", "x")], entry(), entry("x")) == "known failing"


def test_it_excuses_up_to_its_last_day(cell: Make) -> None:
    bad = failing(cell, "a good end")

    assert stands([bad], entry(days=0)) == "known failing"
    assert stands([bad], entry(days=-1)) == "expired"


def test_what_does_not_fail_any_more_is_fixed_whatever_its_day(cell: Make) -> None:
    assert stands([cell()], entry()) == "fixed"
    assert stands([cell()], entry(days=-1)) == "fixed"
    # Of an agent that varies: as long as one round fails it is not fixed.
    assert stands([cell(), failing(cell, "a good end")], entry()) == "known failing"


def test_what_holds_of_a_cell_that_still_fails_is_told(cell: Make) -> None:
    entries = [entry(), entry("no unknown write retried")]
    verdict = decided_of(
        [failing(cell, "a good end")], declared=["a"], catalogue=["x"], baseline=entries
    )

    assert verdict.problems == (
        (
            "the baseline excuses a on x for 'no unknown write retried', and that holds now: take "
            "the entry out, which `agent-tripwire baseline --prune REPORT` does"
        ),
    )


def test_a_demand_that_is_only_looked_at_last_is_not_taken_for_held(cell: Make) -> None:
    verdict = decided_of(
        [failing(cell, "x")], declared=["a"], catalogue=["x"], baseline=[entry(), entry("x")]
    )

    assert verdict.passed


def test_an_entry_about_what_is_not_counted_fails(cell: Make) -> None:
    verdict = decided_of([cell()], declared=["a"], catalogue=["x"], baseline=[entry(agent="gone")])

    assert verdict.problems == (
        (
            "the baseline names 'gone' on x, which is not counted here: correct the entry or take "
            "it out"
        ),
    )


def test_an_end_that_is_near_is_told_and_fails_nothing(cell: Make) -> None:
    def notes(days: int) -> tuple[str, ...]:
        bad = [failing(cell, "a good end")]
        verdict = decided_of(bad, declared=["a"], catalogue=["x"], baseline=[entry(days=days)])
        assert verdict.passed
        return verdict.notes

    assert notes(REMIND) == ("a on x is excused for 14 more days (#7)",)
    assert notes(1) == ("a on x is excused for 1 more day (#7)",)
    assert notes(0) == ("a on x is excused until the end of today (#7)",)
    assert notes(REMIND + 1) == ()


@given(
    st.sets(st.sampled_from(CHECKS)),
    st.sets(st.sampled_from(CHECKS)),
    st.sampled_from(["escaped", "inconclusive"]),
)
def test_a_cell_is_excused_only_if_all_that_is_broken_is_known(
    broken: set[str], known: set[str], state: str
) -> None:
    cell = Cell(
        agent="a",
        case="x",
        state=state,  # type: ignore[arg-type]
        protection="harness",
        broken=tuple(Broken(check=each, message="") for each in sorted(broken)),
    )

    found = stands([cell], *(entry(each) for each in sorted(known)))

    assert (found == "known failing") == (bool(broken) and broken <= known)
