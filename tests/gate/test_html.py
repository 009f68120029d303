"""The page says what the verdict says, and nothing that is in it can break out."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from pytest_tripwire import Harness, RunBudget
from pytest_tripwire.gate import Entry, Row, Standing, Verdict, render
from pytest_tripwire.gate.html import page
from pytest_tripwire.gate.html.budgets import falling
from pytest_tripwire.gate.html.fit import LONGEST, columns, fitted
from pytest_tripwire.gate.text import flat
from pytest_tripwire.harness.options import Options
from pytest_tripwire.oracle import Broken, Cell
from pytest_tripwire.oracle.text import timeline_lines
from pytest_tripwire.timeline import BudgetLine, Dispatch, Effect, ModeChange, Mutation, Reason
from pytest_tripwire.timeline.call import Mode

from ..harness.conftest import Agents  # noqa: TID252 - the tests are no package to import from
from .html_any import HOSTILE, verdicts
from .html_runs import CASES, cell, failing, many
from .html_tree import Node, tree

Make = Callable[..., Cell]


def row(of: Cell | None = None, **fields: Any) -> Row:
    base: dict[str, Any] = {"agent": "a", "case": "x", "state": Standing.CONTAINED}
    return Row(cell=of, **{**base, **fields})


def shown(*rows: Row, **more: Any) -> Node:
    return tree(page(Verdict(rows=rows, agents_declared=True, **more)))


def details(html: Node) -> list[Node]:
    """Those of the rows."""
    return [each for each in html.all("details") if "class" not in each.attributes]


def facts(detail: Node) -> dict[str, Node]:
    (listed,) = detail.all("dl")
    names = listed.all("dt")
    return {name.text: value for name, value in zip(names, listed.all("dd"), strict=True)}


def texts(of: Node, class_: str = "") -> list[str]:
    return [each.text for each in of.all("text", class_)]


# -- properties


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(verdicts)
def test_of_any_verdict(verdict: Verdict) -> None:
    """To make one up takes longer than to look at its page, so that each page is looked at well."""
    text = page(verdict)
    html = tree(text)

    text.encode()
    assert all(each.isprintable() or each == "\n" for each in text)
    links_lead_somewhere(html)
    states_counts_and_texts_agree(verdict, html)
    the_grid_has_each_counted_row_once(verdict, html)


def links_lead_somewhere(html: Node) -> None:
    ids = [each["id"] for each in html.walk() if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    for each in html.walk():
        if "href" in each.attributes:
            href = each["href"]
            assert href[1:] in ids if href.startswith("#") else re.match("https?://", href)
        if "aria-labelledby" in each.attributes:
            assert each["aria-labelledby"] in ids


def states_counts_and_texts_agree(verdict: Verdict, html: Node) -> None:
    (word,) = html.all("h1")
    assert word.text == render.word(verdict)
    counts = [each.text for each in html.all("ul", "counts") for each in each.all("li")]
    assert [each.split(" ", 1)[1] for each in counts] == [
        f"{count} {state}" for state, count in verdict.counts.items()
    ]
    for problem in verdict.problems:
        assert flat(problem) in [each.text for each in html.all("section", "problems")[0].all("li")]
    order = sorted(verdict.rows, key=lambda row: -row.state.weight)
    for row, detail in zip(order, details(html), strict=True):
        _agrees(row, detail)


def _agrees(row: Row, detail: Node) -> None:
    summary = detail.all("summary")[0]
    assert [each.text.split(" ", 1)[1] for each in summary.all("span", "s")] == [row.state.value]
    assert ("open" in detail.attributes) is not row.state.passes
    for text in (row.agent, row.case, row.detail):
        assert flat(text) in detail.text
    if row.cell is not None and row.cell.events:
        (table,) = detail.all("div", "events")
        told = [[each.text for each in line.children] for line in table.all("tr")[1:]]  # type: ignore[union-attr]
        lines = list(timeline_lines(row.cell.events))
        assert [line[0] for line in told] == [str(line.seq) for line in lines]
        assert all(flat(line.what) in words[3] for line, words in zip(lines, told, strict=True))
        for broken in row.cell.broken:
            assert flat(broken.message) in detail.text


def the_grid_has_each_counted_row_once(verdict: Verdict, html: Node) -> None:
    """And links to it."""
    cells = [each for box in html.all("div", "grid") for each in box.all("a")]
    states = {each.all("summary")[0]["id"]: each.all("span", "s")[0].text for each in details(html)}
    assert sorted(each["href"] for each in cells) == sorted(
        f"#row-{at}" for at, row in enumerate(verdict.rows, 1) if row.counted
    )
    assert all(each.text == states[each["href"][1:]] for each in cells)


# -- what is said


def test_the_worst_comes_first_and_is_open() -> None:
    html = shown(
        row(), row(state=Standing.NOT_RUN), row(state=Standing.ESCAPED), row(state=Standing.FIXED)
    )

    found = [(each.all("span", "s")[0].text, "open" in each.attributes) for each in details(html)]
    assert found == [
        ("✗ escaped", True),
        ("↺ fixed", True),
        ("○ not run", True),
        ("✓ contained", False),
    ]
    assert [each["href"] for each in html.all("nav")[0].all("a")] == ["#main", "#row-3"]


def test_what_broke_is_linked_to_its_event_and_marked(cell: Make) -> None:
    events = (
        Dispatch(seq=3, tool="pay", role="write", effect=Effect.WRITE, resource="order 1"),
        Mutation(seq=4, dispatch=3, resource="order 1", version=2),
    )
    broken = (
        Broken(check="once", message="paid twice", seq=3),
        Broken(check="gone", message="lost", seq=9),
    )
    judged = cell(state="escaped", events=events, broken=broken, lesson="look there")

    (detail,) = details(shown(row(judged, state=Standing.ESCAPED, detail="once: paid twice")))

    found = facts(detail)
    assert found["What broke"].text == "once: paid twice (event 3) gone: lost (event 9)"
    assert [each["href"] for each in found["What broke"].all("a")] == ["#row-1-event-3"]
    assert found["Where to look"].text == "look there"
    assert "Detail" not in found
    assert [each["id"] for each in detail.all("tr", "bad")] == ["row-1-event-3"]
    assert "← should not have happened" in detail.all("tr", "bad")[0].text
    assert texts(detail, "flag") == ["✗ should not have happened"]


def test_a_write_is_late_when_it_began_after_the_interruption_not_when_it_landed_after(
    cell: Make,
) -> None:
    pay: dict[str, Any] = {"tool": "pay", "role": "write", "effect": Effect.WRITE, "resource": "o"}
    look = {**pay, "tool": "look", "effect": Effect.READ}
    events = (
        Dispatch(seq=1, **pay),
        ModeChange(seq=2, mode=Mode.STOPPED, reason=Reason.DEADLINE),
        Mutation(seq=3, dispatch=1, resource="o", version=2),
        Dispatch(seq=4, **look),
        Dispatch(seq=5, **pay),
        Mutation(seq=6, dispatch=5, resource="o", version=3),
    )
    judged = cell(events=events, stop_seq=2, reason=Reason.DEADLINE)

    (detail,) = details(shown(row(judged)))

    assert [each["id"][-1] for each in detail.all("tr", "bad")] == ["5", "6"]
    assert texts(detail, "bad") == ["✗ after the interruption"] * 2
    assert "■ interrupted: deadline" in texts(detail, "flag")
    assert [each["id"][-1] for each in detail.all("tr", "stop")] == ["2"]


def test_a_run_that_was_not_interrupted_has_no_line_of_an_interruption(cell: Make) -> None:
    events = (Dispatch(tool="look", role="read", effect=Effect.READ, resource="o"),)

    (detail,) = details(shown(row(cell(events=events))))

    assert not detail.all("path", "stopped")
    assert not detail.all("tr", "stop")
    assert not texts(detail, "flag")


@pytest.mark.parametrize(
    ("issue", "is_link"),
    [
        ("https://example.org/1", True),
        ("HTTP://example.org", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//example.org", False),
        ("https://example.org/\"onclick='x'<b>&amp;", True),
        ("https://", False),
        ("https:example.org", False),
        ("http://[", False),
        ("see https://example.org/1", False),
        ("TEAM-12", False),
    ],
)
def test_an_issue_is_a_link_only_when_it_is_an_address(issue: str, *, is_link: bool) -> None:
    entry = Entry(
        agent="a", case="x", check="c", reason="r", issue=issue, expires=dt.date(2031, 7, 1)
    )

    (detail,) = details(shown(row(state=Standing.KNOWN_FAILING, entry=entry)))

    found = facts(detail)
    assert found["Issue"].text == issue
    assert [each["href"] for each in found["Issue"].all("a")] == [issue] * is_link
    assert (found["Known failing"].text, found["Excused until"].text) == ("c: r", "2031-07-01")


def test_what_is_not_counted_is_told_apart() -> None:
    html = shown(
        row(),
        row(case="x/paid", counted=False),
        row(case="own", counted=False),
        row(agent="b", counted=False),
    )

    (section,) = (each for each in html.all("section") if "Look-alikes" in each.text)
    assert [line.all("td")[1].text for line in section.all("tr")[1:]] == [
        "look-alike: good work",
        "no standard case",
        "the agent is not declared",
    ]


def test_a_row_that_was_judged_more_than_once_says_so() -> None:
    (one, again, none) = details(shown(row(runs=1), row(runs=3, rerun=True), row(runs=0)))

    assert facts(one)["Judgements"].text == "1"
    assert facts(again)["Judgements"].text == (
        "3, of which this is the worst; a test failed and was run again"
    )
    assert facts(none)["Judgements"].text == "none: no test brought one"


def test_nothing_is_fetched_and_nothing_runs() -> None:
    text = page(failing())

    assert "<script" not in text
    assert "url(" not in text
    assert "@import" not in text
    assert not re.search(r'\bsrc=|href="(?!#|https://example\.org/issues/12")', text)
    (policy,) = (each for each in tree(text).all("meta") if "http-equiv" in each.attributes)
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_wherever_it_stands(cell: Make, text: str) -> None:
    events = (Dispatch(seq=1, tool=text, role=text, effect=Effect.READ, resource=text),)
    judged = cell(
        agent=text,
        case=text,
        state="escaped",
        ending=text,
        lesson=text,
        events=events,
        broken=(Broken(check=text, message=text, seq=1),),
        budgets=(BudgetLine(name=text, limit=1, spent=0, remaining=1),),
    )
    found = row(judged, agent=text, case=text, state=Standing.ESCAPED, detail=text, protection=text)

    made = page(Verdict(rows=(found,), problems=(text,), notes=(text,), protections=(text,)))

    tree(made)
    assert "<script" not in made
    assert "\u202e" not in made


# -- real runs


def budgets(detail: Node) -> dict[str, list[str]]:
    """Limit, spent and left of each budget, by its name."""
    (table,) = detail.all("table", "budgets")
    return {
        line.all("th")[0].text: [each.text for each in line.all("td")]
        for line in table.all("tr")[1:]
    }


@pytest.mark.parametrize(
    ("case", "drawn"),
    [
        ("lost-write", ["tool calls 95%", "model requests 85%", "side effects 80%"]),
        ("cost-budget", ["tool calls 87%", "model requests 83%", "cost, USD 0%"]),
        (
            "deadline",
            ["model requests 95%", "tool calls 95%", "side effects 80%", "deadline, s 0%"],
        ),
    ],
)
def test_budgets_of_a_real_run_fall_to_what_was_left(case: str, drawn: list[str]) -> None:
    (detail,) = details(shown(row(cell(case))))

    assert texts(detail, "end") == drawn
    assert all("not drawn" not in name for name in budgets(detail))
    starts = [each["d"].split("H")[0] for each in detail.all("path", "b") if "V" in each["d"]]
    assert len(starts) == len(set(starts)) + len(drawn) - 1  # all of them from the same height


def test_the_line_of_a_deadline_ends_where_the_run_was_interrupted() -> None:
    judged = cell("deadline")

    (line,) = [each for each in falling(judged) if each.budget.name == "deadline_s"]
    stopped = next(n for n, event in enumerate(judged.events) if event.seq == judged.stop_seq)
    assert [share > 0 for share in line.shares[:stopped]] == [True] * stopped
    assert set(line.shares[stopped:]) == {0.0}
    (detail,) = details(shown(row(judged)))
    assert budgets(detail)["deadline, s"] == ["60", "90", "0"]


def test_a_deadline_that_is_kept_falls_as_time_passes() -> None:
    limits = Options(budget=RunBudget(deadline_s=300))

    judged = Harness("lost-write", Agents.loop, agent_id="a", options=limits).run().cell

    (line,) = [each for each in falling(judged) if each.budget.name == "deadline_s"]
    assert (line.budget.spent, line.budget.remaining) == (30, 270)
    assert line.shares == tuple(1 - event.at / 300 for event in judged.events)


def test_a_budget_that_the_events_do_not_explain_is_told_in_numbers_alone(cell: Make) -> None:
    events = (Dispatch(seq=1, tool="look", role="read", effect=Effect.READ, resource="o"),)
    lines = (
        BudgetLine(name="max_turns", limit=4, spent=0, remaining=4),
        BudgetLine(name="max_tool_calls", limit=4, spent=1, remaining=3),
        BudgetLine(name="max_tokens", limit=4, spent=0, remaining=3),
        BudgetLine(name="max_subagents", limit=0, spent=0, remaining=0),
        BudgetLine(name="own", limit=1234.5, spent=0.25, remaining=1234.25),
    )

    (detail,) = details(shown(row(cell(events=events, budgets=lines))))

    undrawn = "not drawn: the events do not tell"
    assert budgets(detail) == {
        "model requests": ["4", "0", "4"],
        f"tool calls {undrawn}": ["4", "1", "3"],
        f"tokens {undrawn}": ["4", "0", "3"],
        f"sub-agents {undrawn}": ["0", "0", "0"],
        f"own {undrawn}": ["1,234.5", "0.25", "1,234.25"],
    }
    assert texts(detail, "end") == ["model requests 100%"]


def test_each_event_of_a_real_run_is_drawn_in_its_lane_in_order() -> None:
    judged = cell("lost-write")

    (detail,) = details(shown(row(judged)))
    drawing = detail.all("div", "timeline")[0].all("svg")[1]
    shapes = drawing.all("use")

    assert [each.text.split(",")[0] for each in shapes] == [str(e.seq) for e in judged.events]
    across = [float(each["x"]) for each in shapes]
    assert across == sorted(across)
    heights = {each["href"]: float(each["y"]) for each in shapes}
    order = ["#g-ask", "#g-allow", "#g-write", "#g-untold", "#g-mutation"]
    assert sorted(order, key=heights.__getitem__) == order
    (stopped,) = drawing.all("path", "stopped")
    stop = next(each for each in shapes if each.text.startswith(f"{judged.stop_seq},"))
    assert stopped["d"].startswith(f"M{stop['x']} ")
    (join,) = drawing.all("path", "join")
    write, told = (next(e for e in shapes if e["href"] == h) for h in ("#g-write", "#g-untold"))
    assert join["d"] == f"M{write['x']} {write['y']}L{told['x']} {told['y']}"


@pytest.mark.parametrize("lines", [1, 2])
def test_crowded_labels_are_cut_to_what_room_there_is(lines: int) -> None:
    wanted = [
        (34.0 * at, "search_articles" if at % 2 else "\u5168\u89d2\u6587\u5b57\u5217")
        for at in range(9)
    ]

    found = fitted(wanted, lines)

    assert len(found) == len(wanted)
    # A column of a common fixed font at this size is as wide as that.
    ends = [each.x + 6.02 * columns(each.text) for each in found]
    for one, other in itertools.combinations(range(len(found)), 2):
        assert found[one].line != found[other].line or ends[one] < found[other].x
    assert [each.text for each in found[-lines:]] == [text for _, text in wanted[-lines:]]
    cut = [each.text for each in found[:-lines] if each.text.startswith("s")]
    assert cut
    assert all(text.endswith("\u2026") for text in cut)


def test_labels_with_room_are_whole_and_in_the_first_line() -> None:
    found = fitted([(0, "ok"), (34, "lost"), (136, "a" * 60)], 2)

    assert [(each.text, each.line) for each in found[:2]] == [("ok", 0), ("lost", 0)]
    assert columns(found[2].text) == LONGEST


def test_the_page_stays_small() -> None:
    few, all_ = (len(page(each).encode()) for each in (failing(), many()))

    assert len(many().rows) == 160
    assert few < 150_000
    assert all_ < 3_500_000
    assert CASES
