"""`agent-tripwire gate`: several test runs, one verdict."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.gate import NotApplicable, Planned
from pytest_tripwire.gate.report import decode
from pytest_tripwire.oracle import State

from .conftest import Command, Write, cell, evidence

LOST, LATE = cell("lost-write"), cell("deadline")


def test_two_halves_are_a_whole(write: Write, command: Command) -> None:
    halves = [write("a.json", evidence(LOST)), write("b.json", evidence(LATE))]

    assert [command("gate", half) for half in halves] == [1, 1]
    assert command("gate", *halves) == 0
    assert [line for line in command.out.splitlines() if "not applicable" not in line] == [
        "agent  case                state           protection  detail",
        "shop   lost-write          contained       harness",
        "shop   deadline            contained       harness",
        "tripwire gate passed: 2 of 2 cells contained (protection: harness)",
    ]
    assert command("gate", "-q", *halves) == 0
    assert len(command.out.splitlines()) == 1


def test_what_none_of_them_ran_is_not_run(write: Write, command: Command) -> None:
    half = write("a.json", evidence(LOST, planned=("lost-write",)))

    assert command("gate", half, half) == 1
    assert "  not run: shop on deadline" in command.out.splitlines()


def test_of_a_cell_in_both_the_worst_counts(write: Write, command: Command) -> None:
    bad = cell("deadline", state=State.ESCAPED)
    files = [write("a.json", evidence(LOST, LATE)), write("b.json", evidence(LOST, bad))]

    for order in (files, files[::-1]):
        assert command("gate", *order) == 1
        assert "  escaped: shop on deadline" in command.out.splitlines()


def test_a_test_that_only_one_of_them_ran_is_run(write: Write, command: Command) -> None:
    """Each has collected all, and a plugin has dealt them out."""
    files = [write("a.json", evidence(LOST)), write("b.json", evidence(LATE))]

    assert command("gate", *files) == 0


@pytest.mark.parametrize(
    ("roots", "lost"), [(("", ""), []), (("a", "a"), []), (("a", "b"), ["a/s"]), (("", "b"), ["s"])]
)
def test_tests_of_one_id_in_two_projects_are_two(
    write: Write, command: Command, roots: tuple[str, str], lost: list[str]
) -> None:
    """What one leaves out is not done because the other has a test that is called the same."""
    both, unsaid = evidence(LOST, LATE), Planned(agent="", case="", test="s")
    halves = [
        msgspec.structs.replace(both, root=root, planned=(*both.planned, unsaid), finished=finished)
        for root, finished in zip(roots, [(), ("s",)], strict=True)
    ]
    files = [write(f"{number}.json", half) for number, half in enumerate(halves)]

    for order in (files, files[::-1]):
        assert command("gate", *order) == (1 if lost else 0)
        said = re.findall(r"(\S+) was collected and did not", command.out)
        assert said == lost


@pytest.mark.parametrize(
    ("differs", "told"),
    [
        (
            {"version": "2"},
            "*b.json: it was made by pytest-agent-tripwire 2, and this is 0.*: install one *",
        ),
        ({"catalogue_version": 99}, "*b.json: its standard cases are *(version 99), and those *"),
        (
            {"catalogue": ("deadline",), "not_applicable": ()},
            "*b.json: its standard cases are deadline (version *), and those of *",
        ),
        ({"declared": ("shop", "desk")}, "the declared agents (`tripwire_agents`) differs: *"),
        ({"protection": "own"}, "the declared protection differs: harness in *; own in *"),
        ({"rounds": 3}, "the rounds (`--tripwire-repeat`) differs: 1 in *; 3 in *"),
        (
            {"not_applicable": (NotApplicable(agent="shop", case="deadline"),)},
            "the cells without a part (`tripwire_not_applicable`) differs: shop on *; shop on *",
        ),
    ],
)
def test_what_does_not_belong_together_is_refused(
    write: Write, command: Command, differs: dict[str, Any], told: str
) -> None:
    from fnmatch import fnmatch

    files = [write("a.json", evidence(LOST)), write("b.json", evidence(LATE, **differs))]

    assert command("gate", *files) == 2
    lines = command.err.splitlines()
    assert any(fnmatch(line, told.replace("[", "[[]")) for line in lines), lines


def test_reports_of_different_baselines_are_refused(write: Write, command: Command) -> None:
    files = [write("a.json", evidence(LOST)), write("b.json", evidence(LATE), ())]

    assert command("gate", *files) == 2
    assert "the baseline differs" in command.err


def test_a_lost_report_of_agents_that_nobody_declared_would_not_be_missed(
    write: Write, command: Command
) -> None:
    files = [write(f"{n}.json", evidence(LOST, LATE, declared=())) for n in "ab"]

    assert command("gate", files[0]) == 0
    assert command("gate", *files) == 1
    assert "  nobody says which agents there are, so that a report that is missing" in command.out


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "this is no report of --tripwire-report"),
        (b"[]", "this is no report of --tripwire-report"),
        (b'{"schema_version": 99}', "this report has the format 99, and this version reads 1: use"),
        (b'{"schema_version": 1}', "this report is damaged, or of another version"),
    ],
)
def test_what_is_no_report_is_wrong_usage(
    tmp_path: Path, command: Command, content: bytes, told: str
) -> None:
    (tmp_path / "a.json").write_bytes(content)

    assert command("gate", str(tmp_path / "a.json")) == 2
    assert told in command.err
    assert "a.json" in command.err


def test_a_file_that_is_not_there_is_wrong_usage(command: Command) -> None:
    assert command("gate", "no-such.json") == 2
    assert "no-such.json: No such file or directory" in command.err


def test_the_whole_is_written_and_is_a_report_again(
    write: Write, command: Command, tmp_path: Path
) -> None:
    halves = [write("a.json", evidence(LOST)), write("b.json", evidence(LATE))]
    whole, page = tmp_path / "out" / "whole.json", tmp_path / "page.html"

    assert command("gate", *halves, "--report", str(whole), "--html", str(page)) == 0
    assert decode(whole.read_bytes()).passed
    assert command("gate", str(whole)) == 0
    assert "2 of 2 cells contained" in page.read_text("utf-8")


def test_a_file_that_cannot_be_written_fails(write: Write, command: Command) -> None:
    whole = write("a.json", evidence(LOST, LATE))

    assert command("gate", whole, "--report", f"{whole}/b.json") == 1
    assert "b.json was not written: " in command.out


def test_on_github_it_is_told_there(
    write: Write, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    assert command("gate", write("a.json", evidence(LOST))) == 1
    assert command.out.splitlines()[-1].startswith(
        "::error title=tripwire gate::tripwire gate FAIL"
    )
    assert "**not run** | shop | deadline" in (tmp_path / "summary.md").read_text("utf-8")
