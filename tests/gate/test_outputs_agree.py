"""Every output says what the verdict says, whatever the texts in it."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from markdown_it import MarkdownIt

from pytest_tripwire.gate import Entry, Evidence, Standing, Verdict, decide, outputs, render
from pytest_tripwire.gate.annotation import error
from pytest_tripwire.gate.html import page
from pytest_tripwire.gate.markdown import LIMIT, markdown
from pytest_tripwire.gate.report import decode, encode, report, schema
from pytest_tripwire.gate.text import flat

from .conftest import TODAY
from .strategies import baselines, evidences

Baseline = tuple[Entry, ...] | None

# A verdict is large to make up; what is looked for shows in any of them.
few = settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])


def verdict_of(evidence: Evidence, baseline: Baseline) -> Verdict:
    return decide(evidence, today=TODAY, baseline=baseline)


def rows_of(verdict: Verdict) -> list[tuple[str, str, str]]:
    """(agent, case, state), as any output may show them."""
    return sorted((flat(row.agent), flat(row.case), str(row.state)) for row in verdict.rows)


@few
@given(evidences, baselines)
def test_of_any_verdict(evidence: Evidence, baseline: Baseline) -> None:
    """Each is looked at by all of them, as to make it up takes the longest."""
    verdict = verdict_of(evidence, baseline)

    passed_means_that_every_row_passes(verdict)
    a_baseline_only_ever_excuses_what_is_broken(verdict, evidence, baseline)
    the_report_holds_all_that_the_verdict_was_made_of(verdict, evidence, baseline)
    the_summary_shows_every_row_and_no_text_is_markup(verdict)
    the_summary_begins_with_the_word(verdict)
    no_text_of_the_summary_mentions_links_or_numbers_anything(verdict)
    the_annotation_is_one_command_and_says_the_word(verdict)
    the_page_says_the_word_and_no_text_is_markup(verdict)
    the_properties_of_a_session_can_be_written_as_xml(verdict)


# -- the verdict itself


def passed_means_that_every_row_passes(verdict: Verdict) -> None:
    assert verdict.passed == (
        any(row.state is not Standing.NOT_APPLICABLE for row in verdict.rows)
        and all(row.state.passes for row in verdict.rows)
        and not verdict.problems
    )
    assert sum(verdict.counts.values()) == len(verdict.rows)


def a_baseline_only_ever_excuses_what_is_broken(
    verdict: Verdict, evidence: Evidence, baseline: Baseline
) -> None:
    bare = {(row.agent, row.case): row for row in verdict_of(evidence, None).rows}

    for row in verdict.rows:
        before = bare[row.agent, row.case]
        if row.state is not before.state:
            assert row.state in (Standing.KNOWN_FAILING, Standing.EXPIRED, Standing.FIXED)
        if row.state is Standing.KNOWN_FAILING:
            assert before.state in (Standing.ESCAPED, Standing.INCONCLUSIVE)
            broken = {
                each.check
                for judged in evidence.judged
                if (judged.cell.agent, judged.cell.case) == (row.agent, row.case)
                for each in judged.cell.broken
            }
            excused = {
                each.check
                for each in baseline or ()
                if each.key == (row.agent, row.case) and each.expires >= TODAY
            }
            assert broken
            assert broken <= excused


# -- JSON


def the_report_holds_all_that_the_verdict_was_made_of(
    verdict: Verdict, evidence: Evidence, baseline: Baseline
) -> None:
    made = report(verdict, evidence, day=TODAY, baseline=baseline)

    read = decode(encode(made))

    assert read == made
    assert decide(read.evidence, today=read.day, baseline=read.baseline) == verdict
    assert (read.passed, read.counts) == (verdict.passed, verdict.counts)
    assert [(row.agent, row.case, row.state) for row in read.rows] == [
        (row.agent, row.case, row.state) for row in verdict.rows
    ]


# -- Markdown


class Table(HTMLParser):
    """The cells of all tables, and every element that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


MARKDOWN = MarkdownIt("gfm-like", {"linkify": False, "html": True})
#: What the summary is made of; nothing else may come out of a text.
ELEMENTS = {"h2", "ul", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "p"}


def read_markdown(verdict: Verdict) -> Table:
    table = Table()
    table.feed(MARKDOWN.render(markdown(verdict)))
    return table


def the_summary_shows_every_row_and_no_text_is_markup(verdict: Verdict) -> None:
    table = read_markdown(verdict)

    assert table.elements <= ELEMENTS
    shown = [
        (agent.strip(), case.strip(), state.strip()) for state, agent, case, *_ in table.rows[1:]
    ]
    assert sorted(shown) == rows_of(verdict)


def the_summary_begins_with_the_word(verdict: Verdict) -> None:
    (_, head, *_) = re.split(r"</?h2>", MARKDOWN.render(markdown(verdict)))

    mark = "✅" if verdict.passed else "❌"
    assert html.unescape(head) == f"{mark} {render.word(verdict)}"


def no_text_of_the_summary_mentions_links_or_numbers_anything(verdict: Verdict) -> None:
    text = markdown(verdict)

    assert not re.search(r"@\w|://|(^|\s)#\d|<", text)


def test_a_summary_that_is_too_long_is_cut_and_says_so() -> None:
    from pytest_tripwire.gate import Row

    rows = tuple(Row(agent="a" * 90, case=str(n), state=Standing.ESCAPED) for n in range(5000))

    text = markdown(Verdict(rows=rows))

    assert len(text.encode()) < LIMIT + 200
    shown = text.count("**escaped**")
    assert 0 < shown < 5000
    assert text.endswith(f"\n{5000 - shown} more rows are in the report.\n")


# -- the annotation


def the_annotation_is_one_command_and_says_the_word(verdict: Verdict) -> None:
    line = error(verdict)

    assert len(line.splitlines()) == 1
    assert line.startswith("::error title=tripwire gate::")
    told = line.removeprefix("::error title=tripwire gate::")
    told = told.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
    first, *rest = told.split("\n")
    assert first == render.word(verdict)
    named = min(len(verdict.failing), 10)
    assert len(rest) == named + (len(verdict.failing) > 10) + len(verdict.problems)


# -- the page


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def the_page_says_the_word_and_no_text_is_markup(verdict: Verdict) -> None:
    read = Text()

    read.feed(page(verdict))

    assert not read.elements & {"script", "iframe", "img", "object", "embed", "form", "base"}
    told = " ".join("".join(read.text).split())
    assert render.word(verdict).partition(" cells")[0] in told
    for row in verdict.rows:
        assert flat(row.agent) in told


# -- JUnit


def the_properties_of_a_session_can_be_written_as_xml(verdict: Verdict) -> None:
    for line in render.gate(verdict):
        element = ET.Element("property", value=line)
        (read,) = [ET.fromstring(ET.tostring(element)).attrib["value"]]  # noqa: S314 - own text
        assert read == line


# -- secrets of files


@pytest.mark.parametrize("text", ["../../x", "/etc/passwd", "a" * 300])
def test_no_text_becomes_a_path(text: str, tmp_path: Path) -> None:
    from pytest_tripwire.gate import Row

    verdict = Verdict(rows=(Row(agent=text, case=text, state=Standing.ESCAPED),))
    evidence = Evidence(version="1", catalogue_version=1, catalogue=())
    whole = report(verdict, evidence, day=TODAY, baseline=None)

    for path, content in outputs.files(
        verdict, whole, json=tmp_path / "a.json", html=tmp_path / "a.html"
    ):
        assert outputs.written(path, content) == ""
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.html", "a.json"]


def test_whoever_reads_meanwhile_finds_the_old_or_the_new(tmp_path: Path) -> None:
    """As two sessions that write one file: neither is to be in the midst of the other."""
    file = tmp_path / "report.json"
    assert outputs.written(file, b"the old one") == ""
    file.chmod(0o640)

    with file.open("rb") as reader:
        assert outputs.written(file, b"new") == ""
        assert reader.read() == b"the old one"

    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_new_file_is_for_whom_others_are(tmp_path: Path) -> None:
    (tmp_path / "other").touch()

    assert outputs.written(tmp_path / "new.json", b"new") == ""

    modes = {each.stat().st_mode for each in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.parametrize("name", ["link", "a" * 250])
def test_what_cannot_be_replaced_is_written_in_its_place(tmp_path: Path, name: str) -> None:
    """A link, such as `/dev/stdout`, and a name that leaves no room for another beside it."""
    (tmp_path / "real").write_bytes(b"a longer one")
    if name == "link":
        (tmp_path / name).symlink_to("real")

    with (tmp_path / "real").open("rb") as reader:
        assert outputs.written(tmp_path / name, b"new") == ""
        assert (tmp_path / name).read_bytes() == b"new"
        assert name != "link" or reader.read() == b"new"
    assert (tmp_path / name).is_symlink() == (name == "link")


# -- the schema


def fields(whole: Any) -> dict[str, tuple[list[str], list[str]]]:
    """By the name of each part: its fields, and those that it has to have."""
    return {
        name: (sorted(part.get("properties", ())), sorted(part.get("required", ())))
        for name, part in whole["$defs"].items()
    }


def test_the_published_schema_is_that_of_the_report() -> None:
    """Field by field: versions of msgspec write the rest of it differently."""
    published = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"

    assert fields(json.loads(published.read_text("utf-8"))) == fields(schema())
