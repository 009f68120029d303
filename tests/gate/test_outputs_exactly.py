"""What the terminal, JUnit's own writer and the exit status make of any verdict."""

from __future__ import annotations

import datetime as dt
import io
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_tripwire import __version__
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.cases.catalogue import CATALOGUE_VERSION
from pytest_tripwire.console import gate, gate_options
from pytest_tripwire.gate import (
    Entry,
    Evidence,
    Judged,
    NotApplicable,
    Verdict,
    decide,
    parse,
    render,
)
from pytest_tripwire.gate.annotation import error
from pytest_tripwire.gate.prune import without
from pytest_tripwire.gate.report import encode, report
from pytest_tripwire.gate.text import flat, inert
from pytest_tripwire.oracle import CHECKS, Cell, State
from pytest_tripwire.plugin import junit
from pytest_tripwire.replay.command import Streams

from .conftest import TODAY
from .strategies import AGENTS, CASES, baselines, evidences, texts

if TYPE_CHECKING:
    import pytest

Baseline = tuple[Entry, ...] | None
few = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)


def whole(evidence: Evidence) -> Evidence:
    """The same, as this version would have made it: the agents have no part in the other cases."""
    others = [case for case in CASE_IDS if case not in CASES]
    agents = evidence.agents
    bare = [NotApplicable(agent=agent, case=case) for agent in agents for case in others]
    return msgspec.structs.replace(
        evidence,
        version=__version__,
        catalogue_version=CATALOGUE_VERSION,
        catalogue=CASE_IDS,
        not_applicable=tuple(bare),
    )


@st.composite
def good(draw: Any) -> Evidence:
    """Evidence of which nothing is wrong, with any text that a good cell may bring."""
    cells = [
        Cell(agent=agent, case=case, state=State.CONTAINED, protection="own", ending=draw(texts))
        for agent in AGENTS
        for case in CASES
    ]
    return Evidence(
        version="",
        catalogue_version=1,
        catalogue=CASES,
        declared=AGENTS,
        protection="own",
        judged=tuple(Judged(cell=each) for each in cells),
    )


@few
@given(evidence=evidences, baseline=baselines)
def test_each_row_and_each_reason_is_told(
    pytestconfig: pytest.Config, evidence: Evidence, baseline: Baseline
) -> None:
    verdict = decide(evidence, today=TODAY, baseline=baseline)

    the_terminal_has_a_line_for_each(verdict)
    junits_own_writer_keeps_the_word_and_each_reason(
        verdict, pytestconfig.pluginmanager.get_plugin("junitxml")
    )


def the_terminal_has_a_line_for_each(verdict: Verdict) -> None:
    (_, head), *lines = render.table(verdict, whole=True)
    word, *reasons = render.gate(verdict)

    assert head.split() == ["agent", "case", "state", "protection", "detail"]
    assert [state for state, _ in lines] == [str(row.state) for row in verdict.rows]
    for row, (state, line) in zip(verdict.rows, lines, strict=True):
        assert line.startswith(inert(flat(row.agent)))
        assert f"  {state}" in line
    assert word.startswith(f"tripwire gate {'passed' if verdict.passed else 'FAILED'}: ")
    named = [line for line in reasons if not line.startswith("  (")]
    assert len(reasons) == len(verdict.failing) + len(verdict.problems) + len(verdict.notes) + (
        not verdict.agents_declared
    )
    for row, line in zip(verdict.failing, named, strict=False):
        assert line.startswith(inert(f"  {row.state}: {flat(row.agent)} on {flat(row.case)}"))


class Plugins:
    """A session in which pytest writes JUnit's file."""

    def __init__(self, writer: object) -> None:
        self.pluginmanager = self
        self._writer = writer

    def get_plugins(self) -> list[object]:
        return [object(), self._writer]


def junits_own_writer_keeps_the_word_and_each_reason(verdict: Verdict, pytests_own: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = pytests_own.LogXML(f"{folder}/junit.xml", None)
        writer.pytest_sessionstart()
        junit.tell(Plugins(writer), verdict)  # type: ignore[arg-type]
        writer.pytest_sessionfinish()
        (suite,) = ET.parse(f"{folder}/junit.xml").getroot()  # noqa: S314 - pytest has written it

    told = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    word, *reasons = render.gate(verdict)
    expected = {f"tripwire.gate.{n}": line.strip() for n, line in enumerate(reasons, 1)}
    # pytest 8 takes letters beyond the first 65,536 for none that XML can hold.
    as_written = pytests_own.bin_xml_escape
    assert told == {
        name: as_written(text) for name, text in {"tripwire.gate": word, **expected}.items()
    }


@few
@given(st.one_of(evidences, good()), baselines, st.booleans())
def test_the_exit_status_of_the_command_is_the_verdicts_and_so_is_its_mark(
    evidence: Evidence,
    baseline: Baseline,
    spared: bool,  # noqa: FBT001 - drawn
) -> None:
    evidence, baseline = whole(evidence), None if spared else baseline
    verdict = decide(evidence, today=TODAY, baseline=baseline)
    out = io.BytesIO()
    streams = Streams(stdin=io.BytesIO(), stdout=out, stderr=io.StringIO(), clock=lambda: 0.0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "r.json"
        path.write_bytes(encode(report(verdict, evidence, day=TODAY, baseline=baseline)))

        status = gate.execute(
            gate_options.Wanted(reports=(path,)),
            streams,
            today=TODAY,
            environment={"GITHUB_ACTIONS": "true"},
        )

    lines = out.getvalue().decode().split("\n")
    assert status == (0 if verdict.passed else 1)
    assert render.word(verdict) in lines
    marks = [line for line in lines if line.lstrip().startswith("::")]
    assert marks == ([] if verdict.passed else [error(verdict)])


@given(good())
def test_what_is_good_passes(evidence: Evidence) -> None:
    """So that the status is tried for both words."""
    assert decide(whole(evidence), today=TODAY).passed


def entry(agent: str, reason: str, number: int) -> str:
    """As a person writes it who takes a text from elsewhere: a basic string, as JSON has it too."""
    told = {"agent": agent, "reason": reason, "issue": reason}
    lines = [f"{name} = {toml(text)}" for name, text in told.items()]
    day = TODAY + dt.timedelta(days=1)
    more = [f'case = "{CASES[0]}"', f'check = "{CHECKS[number]}"', f"expires = {day}"]
    return "\n".join(["[[known_failing]]", *lines, *more, "", ""])


def toml(text: str) -> str:
    return (
        '"'
        + "".join(
            f"\\U{ord(each):08x}" if each in '"\\' or not each.isprintable() else each
            for each in text
        )
        + '"'
    )


@few
@given(
    st.lists(st.tuples(texts.filter(str.strip), texts.filter(str.strip)), min_size=2, max_size=4),
    st.integers(0, 1),
)
def test_no_text_of_a_baseline_gets_out_of_its_entry(
    pairs: list[tuple[str, str]], gone: int
) -> None:
    parts = [entry(agent, reason, n) for n, (agent, reason) in enumerate(pairs)]

    def read(text: str) -> tuple[Entry, ...]:
        return parse(text, today=TODAY, case_problem=lambda _: "", checks=CHECKS)

    entries = read("".join(parts))

    assert [(each.agent, each.reason) for each in entries] == pairs
    left = without("".join(parts), [entries[gone]])
    assert left == "".join(part for n, part in enumerate(parts) if n != gone)
    assert read(left) == tuple(each for n, each in enumerate(entries) if n != gone)
