"""Whatever keeps a cell from being seen to be contained fails the gate, and every output names the
same cells.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.gate.report import decode

from ..gate.html_tree import tree  # noqa: TID252 - the tests are no package to import from

LOST = "lost-write"
FILES = ("--tripwire-report=report.json", "--tripwire-html=page.html", "--junit-xml=junit.xml")
TOLD = re.compile(r"(not run|escaped|inconclusive|fixed|expired): (\S+) on ([\w-]+)")

Cells = set[tuple[str, str, str]]


class Situation(msgspec.Struct, frozen=True):
    """What goes wrong with the agent `b`, while `a` is contained.

    Args:
        options: on pytest's command line.
        workers: how many there are.
        lost: the cells that are not run then.
        more: in the `conftest.py` of `b`.
        body: of the test of `b`, before the run.
    """

    options: tuple[str, ...]
    lost: tuple[tuple[str, str], ...]
    workers: str = "0"
    more: str = ""
    body: str = "pass"


DECLARED = "--tripwire-protection=harness"
ONE = (("b", LOST),)
ALL = tuple((agent, case) for agent in "ab" for case in CASE_IDS)
#: All that is counted where not every case is tried.
TWO = tuple((agent, case) for agent in "ab" for case in (LOST, "deadline"))
ENDS = (
    "import os; tripwire.case.id == 'lost-write' and os.kill(os.getpid(), 9); "
    "tripwire.case.id == 'deadline' and os._exit(0)"
)
SITUATIONS = {
    "a worker that is killed, and one that ends itself as if all were well": Situation(
        (DECLARED,), (*ONE, ("b", "deadline")), workers="1", body=ENDS
    ),
    "a case that is deselected": Situation(
        (DECLARED, "--deselect", f"b/test_b.py::test_agent[{LOST}]"), ONE
    ),
    "a skip": Situation(
        (DECLARED,), ONE, body="import pytest; tripwire.case.id == 'lost-write' and pytest.skip()"
    ),
    "an import error in the agent": Situation(
        (DECLARED,),
        tuple(("b", case) for case in (LOST, "deadline")),
        more="@pytest.fixture\ndef tripwire_agent(): import no_such_module\n",
    ),
    "an empty selection": Situation((DECLARED, "-k", "nothing"), ALL),
}
UNDECLARED = Situation((), ())


@pytest.fixture
def folder(project: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = Path(project.pytester.path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path / "summary.md"))
    return path


def tried(project: Any, situation: Situation) -> pytest.RunResult:
    if situation.lost == ALL:
        project.every_case()
    else:
        project.two_cases("a", "b")
    project.ini(
        "pythonpath = .\naddopts = --import-mode=importlib\ntripwire_agents =\n    a\n    b\n"
    )
    project.plug_in("twice", folder="a/")
    project.plug_in("twice", folder="b/", more=situation.more)
    project.tests(name="a/test_a")
    project.tests(
        f"def test_agent(tripwire):\n    {situation.body}\n    tripwire.run().check()\n",
        name="b/test_b",
    )
    run: Callable[..., pytest.RunResult] = project.shared
    return run(situation.workers, "--tripwire-gate", *FILES, *situation.options)


def of_lines(lines: list[str]) -> Cells:
    found = [match for line in lines if (match := TOLD.match(line.strip()))]
    return {(agent, case, state) for state, agent, case in (each.groups() for each in found)}


def of_report(path: Path) -> Cells:
    made = decode(path.read_bytes())
    assert not made.passed
    return {(row.agent, row.case, str(row.state)) for row in made.rows if not row.passes}


def of_summary(path: Path) -> Cells:
    rows = [line.split("|") for line in path.read_text("utf-8").splitlines()]
    cut = [[html.unescape(each).strip() for each in row] for row in rows if len(row) > 4]
    return {(row[2], row[3], row[1].strip("*")) for row in cut if row[1].startswith("**")}


def of_page(path: Path) -> Cells:
    """What is open in it."""
    opened = [
        each
        for each in tree(path.read_text("utf-8")).all("details")
        if "open" in each.attributes and each.all("h3")
    ]
    found = set()
    for each in opened:
        agent, case = each.all("h3")[0].text.split(" on ")
        found.add((agent, case, each.all("span", "s")[0].text.split(" ", 1)[1]))
    return found


def of_junit(path: Path) -> list[str]:
    (suite,) = ET.parse(path).getroot()  # noqa: S314 - pytest has written it
    (properties,) = suite.findall("properties")
    return [each.attrib["value"] for each in properties]


def annotated(lines: list[str]) -> list[str]:
    (line,) = [each for each in lines if each.startswith("::error")]
    return line.removeprefix("::error title=tripwire gate::").split("%0A")


@pytest.mark.parametrize("what", SITUATIONS)
def test_the_gate_fails_and_every_output_names_the_cells(
    project: Any, folder: Path, what: str
) -> None:
    result = tried(project, SITUATIONS[what])

    every_output_names_the_cells(result, folder, SITUATIONS[what])


def every_output_names_the_cells(
    result: pytest.RunResult, folder: Path, situation: Situation
) -> None:
    lost = {(agent, case, "not run") for agent, case in situation.lost}
    whole = len(ALL if situation.lost == ALL else TWO)
    assert result.ret == 1
    word = next(line for line in result.outlines if line.startswith("tripwire gate FAILED: "))
    assert word.startswith(f"tripwire gate FAILED: {whole - len(lost)} of {whole} cells contained")
    assert of_lines(result.outlines[result.outlines.index(word) :]) == lost
    assert of_report(folder / "report.json") == lost
    assert of_summary(folder / "summary.md") == lost
    assert of_page(folder / "page.html") == lost
    told = of_junit(folder / "junit.xml")
    assert (told[0], of_lines(told)) == (word, lost)
    marked = annotated(result.outlines)
    assert marked[0] == word
    assert of_lines(marked) <= lost
    left = len(lost) - len(of_lines(marked))
    assert (f"and {left} more" in marked) is (left > 0)


def test_an_undeclared_protection_is_told_in_every_output(project: Any, folder: Path) -> None:
    result = tried(project, UNDECLARED)

    every_output_names_the_cells(result, folder, UNDECLARED)
    told = "nobody says which protection is under test; set the ini value `tripwire_protection`"
    assert any(line.startswith(f"  {told}") for line in result.outlines)
    assert any(
        each.startswith(told) for each in decode((folder / "report.json").read_bytes()).problems
    )
    summary = html.unescape((folder / "summary.md").read_text("utf-8"))
    assert f"- {told}" in summary
    assert told in " ".join(tree((folder / "page.html").read_text("utf-8")).text.split())
    assert any(each.startswith(told) for each in of_junit(folder / "junit.xml"))
    assert any(each.startswith(told) for each in annotated(result.outlines))
