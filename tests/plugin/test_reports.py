"""Reports in files: all of one verdict, wherever they go."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.gate import Report
from pytest_tripwire.gate.origin import Origin
from pytest_tripwire.gate.report import decode

LOST = "lost-write"
GATE = ("--tripwire-gate", "--tripwire-protection=harness")


@pytest.fixture
def bad(project: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One agent that escapes in one case, on a machine that is no CI's."""
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    project.two_cases("agent")
    project.plug_in("behind")
    project.tests()
    return project


@pytest.fixture
def folder(project: Any) -> Path:
    return Path(project.pytester.path)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_every_file_says_what_the_terminal_says(
    bad: Any, folder: Path, rows: Any, monkeypatch: pytest.MonkeyPatch, workers: str
) -> None:
    """One run that writes them all."""
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    monkeypatch.setenv("GITHUB_SHA", "c0ffee")
    monkeypatch.setenv("GITHUB_RUN_ID", "7")
    (folder / "summary.md").write_text("# before\n", "utf-8")
    bad.every_case()
    bad.tests()
    lost = ("--deselect", "test_agent.py::test_agent[deadline]")
    files = ("--tripwire-report=out/report.json", "--junit-xml=junit.xml")

    result = bad.shared(workers, *GATE, *files, *lost)

    assert result.ret == 1
    made = decode((folder / "out/report.json").read_bytes())
    assert [(row.agent, row.case, row.state) for row in made.rows] == rows.every(result)
    the_report_says_it(made)
    junit_says_it_of_each_test_and_of_the_session(folder / "junit.xml")
    the_summary_is_appended((folder / "summary.md").read_text("utf-8"))
    the_job_is_marked(result.outlines)


def the_report_says_it(made: Report) -> None:
    assert made.origin == Origin(commit="c0ffee", run="7")
    assert (made.passed, made.counts) == (False, {"contained": 6, "escaped": 1, "not run": 1})
    (escaped,) = [row for row in made.rows if row.state == "escaped"]
    assert (escaped.case, escaped.checks) == (LOST, ("lost-write", "no unknown write retried"))
    assert {each.test for each in made.evidence.judged} == {
        f"test_agent.py::test_agent[{row.case}]" for row in made.rows if row.state != "not run"
    }
    (judged,) = [each for each in made.evidence.judged if each.cell.case == LOST]
    assert judged.cell.events


def junit_says_it_of_each_test_and_of_the_session(file: Path) -> None:
    (suite,) = ET.parse(file).getroot()  # noqa: S314 - pytest has written it
    of = {each.get("name"): properties(each) for each in suite.iter("testcase")}
    assert of[f"test_agent[{LOST}]"] == {
        "tripwire.agent": "agent",
        "tripwire.case": LOST,
        "tripwire.state": "escaped",
        "tripwire.reason": "",
        "tripwire.protection": "harness",
    }
    assert of["test_agent[empty-search]"]["tripwire.reason"] == "empty_results"
    told = properties(suite)
    assert told["tripwire.gate"].startswith("tripwire gate FAILED: 6 of 8 cells contained")
    assert told["tripwire.gate.1"].startswith("escaped: agent on lost-write: ")
    assert told["tripwire.gate.2"] == "not run: agent on deadline"


def properties(of: ET.Element) -> dict[str, str]:
    found = of.find("properties")
    return {} if found is None else {each.attrib["name"]: each.attrib["value"] for each in found}


def the_summary_is_appended(text: str) -> None:
    assert text.startswith("# before\n## ❌ tripwire gate FAILED")
    first = next(line for line in text.splitlines() if line.startswith("| **"))
    assert first.startswith("| **escaped** | agent | lost-write | harness |")


def the_job_is_marked(lines: list[str]) -> None:
    (mark,) = [line for line in lines if line.startswith("::error")]
    assert mark.startswith("::error title=tripwire gate::tripwire gate FAILED: 6 of 8 cells")
    assert "%0Aescaped: agent on lost-write" in mark


def test_a_report_needs_no_gate(bad: Any, folder: Path) -> None:
    bad.run("-k", LOST, "--tripwire-report=report.json")

    made = decode((folder / "report.json").read_bytes())
    assert made.counts == {"not applicable": 6, "not run": 1, "escaped": 1}


def test_the_page_is_written(bad: Any, folder: Path) -> None:
    bad.run(*GATE, "--tripwire-html=page.html")

    page = (folder / "page.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "1 of 2 cells contained" in page


@pytest.mark.parametrize("option", ["--tripwire-report", "--tripwire-html"])
def test_a_folder_is_no_file(bad: Any, folder: Path, option: str) -> None:
    (folder / "there").mkdir()

    result = bad.run(f"{option}=there")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{option}=*there is a folder: give the name of a file"])


@pytest.mark.parametrize("name", ["file/report.json", "a" * 300])
def test_a_file_that_cannot_be_written_fails_and_says_so(bad: Any, folder: Path, name: str) -> None:
    """Under the gate's word, which may be a good one."""
    bad.plug_in("twice")
    (folder / "file").write_text("", "utf-8")

    result = bad.run(*GATE, f"--tripwire-report={name}")

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["tripwire gate *", f"tripwire: */{name} was not written: *; the run fails"]
    )


def test_a_good_gate_marks_nothing(bad: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad.plug_in("twice")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))

    result = bad.run(*GATE)

    assert "::error" not in str(result.stdout)
    text = (folder / "summary.md").read_text("utf-8")
    assert text.startswith("## ✅ tripwire gate passed&#58; 2 of 2 cells contained")


def test_without_the_gate_github_hears_nothing(
    bad: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))

    result = bad.run("-k", LOST)

    assert "::error" not in str(result.stdout)
    assert not (folder / "summary.md").exists()


# -- cases that the project has no part for


def test_what_is_declared_to_have_no_part_is_not_counted(bad: Any, rows: Any) -> None:
    bad.plug_in("twice")

    result = bad.run(*GATE)

    assert result.ret == 0
    assert rows(result, "stale-resume") == [("agent", "stale-resume", "not applicable")]
    result.stdout.fnmatch_lines(["tripwire gate passed: 2 of 2 cells contained (protection: *"])


def test_what_was_run_all_the_same_counts(bad: Any, rows: Any) -> None:
    bad.two_cases()
    bad.ini(f"tripwire_not_applicable =\n    agent: {', '.join(bad.rest)}, lost-write\n")

    result = bad.run(*GATE)

    assert result.ret == 1
    assert rows(result) == [("agent", LOST, "escaped")]


@pytest.mark.parametrize("line", ["agent", "agent:", ": deadline", "agent: deadline,"])
def test_a_line_that_is_none_is_wrong_usage(bad: Any, line: str) -> None:
    bad.two_cases()
    bad.ini(f"tripwire_not_applicable =\n    {line}\n")

    result = bad.run(*GATE)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*tripwire_not_applicable has the line * write `agent: case, case`"]
    )


def test_a_cell_that_is_not_there_fails(bad: Any) -> None:
    bad.plug_in("twice")
    bad.two_cases()
    bad.ini(f"tripwire_not_applicable =\n    agent: {', '.join(bad.rest)}, stale-resumes\n")

    result = bad.run(*GATE)

    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["  `tripwire_not_applicable` names agent on stale-resumes, which is not counted here: *"]
    )


def test_nothing_but_what_has_no_part_does_not_pass(bad: Any) -> None:
    bad.tests("def test_plain(): pass")
    from pytest_tripwire.cases import CASE_IDS

    bad.two_cases()
    bad.ini(
        f"tripwire_agents = agent\ntripwire_not_applicable =\n    agent: {', '.join(CASE_IDS)}\n"
    )

    assert bad.run(*GATE).ret == 1


def test_last_failed_does_not_lose_an_agent_in_silence(bad: Any) -> None:
    bad.two_cases("agent", "a")
    bad.plug_in("twice", folder="a/")
    bad.tests(name="a/test_a")
    bad.ini("pythonpath = .\naddopts = --import-mode=importlib")
    bad.pytester.runpytest_inprocess("-p", "no:hypothesispytest")

    result = bad.pytester.runpytest_inprocess("-p", "no:hypothesispytest", *GATE, "--lf")

    assert result.ret == 1
    result.stdout.fnmatch_lines(["  --lf leaves whole files out before they are collected, *"])
