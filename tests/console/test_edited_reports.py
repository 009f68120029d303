"""A report that does not say what its own evidence gives is refused, and so are reports that are
not of one run.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.gate import Entry
from pytest_tripwire.gate.origin import Origin
from pytest_tripwire.oracle import Broken, State

from .conftest import TODAY, Command, Write, cell, evidence

LOST, LATE = cell("lost-write"), cell("deadline")
BAD = cell("lost-write", state=State.ESCAPED, broken=(Broken(check="a good end", message="so"),))
KNOWN = Entry(
    agent="shop",
    case="lost-write",
    check="a good end",
    reason="why",
    issue="#7",
    expires=TODAY + dt.timedelta(days=30),
)
LATE_ENTRY = TODAY - dt.timedelta(days=1)
Edit = Callable[[dict[str, Any]], Any]


def row(of: dict[str, Any], case: str = "lost-write") -> dict[str, Any]:
    return next(each for each in of["rows"] if each["case"] == case)


def forget_deadline(of: dict[str, Any]) -> None:
    of["evidence"]["judged"] = [
        each for each in of["evidence"]["judged"] if each["cell"]["case"] != "deadline"
    ]


EDITS: dict[str, tuple[Edit, str]] = {
    "the cell of an escape": (
        lambda of: of["evidence"]["judged"][0]["cell"].update(state="contained", broken=[]),
        "shop on lost-write is said to be escaped, and its evidence gives contained",
    ),
    "the state of a cell alone": (
        lambda of: of["evidence"]["judged"][0]["cell"].update(state="contained"),
        "shop on lost-write was judged to be contained by t[lost-write], though the demand 'a good",
    ),
    "a row": (
        lambda of: row(of).update(state="contained"),
        "shop on lost-write is said to be contained, and its evidence gives escaped",
    ),
    "what a row says": (
        lambda of: row(of).update(passes=True),
        "passes of shop on lost-write is true, and its evidence gives false",
    ),
    "a row that is gone": (
        lambda of: of["rows"].remove(row(of)),
        "shop on lost-write has no row, and its evidence counts it",
    ),
    "a row that is told twice": (
        lambda of: of["rows"].append(row(of)),
        "its rows are repeated, or not in the order of agents and cases",
    ),
    "the verdict": (lambda of: of.update(passed=True), "passed is true, and its evidence gives f"),
    "the counts": (
        lambda of: of["counts"].update(escaped=0),
        'counts is {"contained":1,"not applicable":6,"escaped":0}, and its evidence gives {',
    ),
    "what is under test": (
        lambda of: of.update(protections=["production"]),
        'protections is ["production"], and its evidence gives ["harness"]',
    ),
    "the problems": (lambda of: of.update(problems=["x"]), 'problems is ["x"], and its evidence'),
    "a judgement that is gone": (
        forget_deadline,
        "shop on deadline is said to be contained, and its evidence gives not run",
    ),
    "the declared agents": (
        lambda of: of["evidence"].update(declared=["desk"]),
        "desk on lost-write has no row, and its evidence counts it",
    ),
    "the catalogue": (
        lambda of: of["evidence"]["catalogue"].remove("lost-write"),
        "its standard cases are empty-search, ping-pong-handoff, rephrased-denial, long-",
    ),
}


def edited(path: str, edit: Edit) -> str:
    whole = json.loads(Path(path).read_bytes())
    edit(whole)
    Path(path).write_text(json.dumps(whole), encoding="utf-8")
    return path


@pytest.mark.parametrize("what", EDITS)
def test_an_edited_report_is_refused_with_what_disagrees(
    write: Write, command: Command, what: str
) -> None:
    edit, told = EDITS[what]
    made = write("a.json", evidence(BAD, LATE))
    assert command("gate", made) == 1

    assert command("gate", edited(made, edit)) == 2
    assert told in command.err
    assert "a.json: " in command.err
    assert command("baseline", "--file", "no-such.toml", "--prune", made) == 2


@pytest.mark.parametrize(
    ("expires", "edit", "told"),
    [
        (LATE_ENTRY, 30, "shop on lost-write is said to be expired, and its evidence gives known"),
        (KNOWN.expires, 60, 'detail of shop on lost-write is "until '),
        (KNOWN.expires, 91, "shop on lost-write is excused until "),
    ],
)
def test_an_edited_expiry_is_refused(
    write: Write, command: Command, expires: dt.date, edit: int, told: str
) -> None:
    from msgspec.structs import replace

    made = write("a.json", evidence(BAD, LATE), (replace(KNOWN, expires=expires),))
    assert command("gate", made) == int(expires < TODAY)
    later = (TODAY + dt.timedelta(days=edit)).isoformat()

    assert command("gate", edited(made, lambda of: of["baseline"][0].update(expires=later))) == 2
    assert told in command.err


def test_an_excuse_of_ninety_days_agrees(write: Write, command: Command) -> None:
    from msgspec.structs import replace

    longest = replace(KNOWN, expires=TODAY + dt.timedelta(days=90))

    assert command("gate", write("a.json", evidence(BAD, LATE), (longest,))) == 0


# -- of one run


ONE = Origin(commit="c0ffee", run="7")
APART = [
    (Origin(commit="decade", run="7"), "the commit differs: c0ffee in "),
    (Origin(commit="c0ffee", run="8"), "the CI run differs: 7 in "),
]


@pytest.mark.parametrize(("other", "told"), APART)
def test_reports_of_other_commits_or_runs_are_refused(
    write: Write, command: Command, other: Origin, told: str
) -> None:
    files = [
        write("a.json", evidence(LOST), origin=ONE),
        write("b.json", evidence(LATE), origin=other),
    ]

    assert command("gate", *files) == 2
    assert told in command.err
    assert "one of them may be left over from a run before; begin with an empty " in command.err


@pytest.mark.parametrize("other", [ONE, None, Origin(run="7"), Origin(commit="c0ffee")])
def test_reports_of_one_run_and_such_that_do_not_say_belong_together(
    write: Write, command: Command, other: Origin | None, tmp_path: Path
) -> None:
    files = [
        write("a.json", evidence(LOST), origin=other),
        write("b.json", evidence(LATE), origin=ONE),
    ]
    whole = str(tmp_path / "whole.json")

    assert command("gate", *files, "--report", whole) == 0
    assert json.loads(Path(whole).read_bytes())["origin"] == {"commit": "c0ffee", "run": "7"}
    assert command("gate", whole) == 0


# -- so many as there have to be


def test_a_lost_shard_that_lacks_no_cell_is_missed_where_it_is_expected(
    write: Write, command: Command
) -> None:
    """Two tests of one cell, in folders that two shards ran."""
    first = write("a.json", evidence(LOST, LATE))
    second = write("b.json", evidence(BAD, planned=("lost-write",)))

    assert command("gate", first, second) == 1
    assert command("gate", first) == 0  # as nothing of the other is known
    assert command("gate", first, "--expect", "2") == 1
    told = "  reports expected: 2, found: 1; a shard was lost, or left no report"
    assert told in command.out.splitlines()


def test_one_too_many_is_noticed_and_a_file_that_is_named_twice_is_one(
    write: Write, command: Command, tmp_path: Path
) -> None:
    files = [write("a.json", evidence(LOST)), write("b.json", evidence(LATE))]
    whole = str(tmp_path / "whole.json")

    assert command("gate", *files, "--expect=2") == 0
    assert command("gate", *files, *files, "--expect=2") == 0
    assert command("gate", *files, "--expect=1", "--report", whole) == 1
    assert "reports expected: 1, found: 2; one of them is of another run, or" in command.out
    # The whole is a report, and fails for the same reason.
    assert command("gate", whole) == 1


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", "²"])
def test_what_is_no_number_of_reports_is_wrong_usage(
    write: Write, command: Command, number: str
) -> None:
    assert command("gate", write("a.json", evidence(LOST, LATE)), f"--expect={number}") == 2
    assert "is no number of reports, from 1 on" in command.err
