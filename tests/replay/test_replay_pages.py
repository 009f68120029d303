"""The pages about replay: what they show is what the command prints, and nothing is left out."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import cli
from pytest_tripwire.replay import options
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.replay.reading import names, recorded
from pytest_tripwire.replay.trace import Expect, Limits

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to" / "replay-your-traces.md"
REFERENCE = ROOT / "docs" / "reference" / "replay.md"

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w.]+)\n")


def attributes(given: dict[str, Any]) -> list[Any]:
    return [{"key": name, "value": {"stringValue": value}} for name, value in given.items()]


def span(number: int, seconds: int, **given: str) -> dict[str, Any]:
    said = {name.replace("__", "."): value for name, value in given.items()}
    return {
        "traceId": "5b8efff798038103",
        "spanId": f"0{number}",
        "startTimeUnixNano": str((1_760_000_000 + seconds) * 10**9),
        "endTimeUnixNano": str((1_760_000_001 + seconds) * 10**9),
        "attributes": attributes(said),
    }


REFUND = {
    "gen_ai__operation__name": "execute_tool",
    "gen_ai__tool__name": "issue_refund",
    "gen_ai__tool__call__arguments": '{"order_id": "A-17", "amount": 40}',
}
#: What the collector of the page has written.
SPANS = [
    span(1, 0, gen_ai__operation__name="chat"),
    span(2, 2, **REFUND, error__type="timeout"),
    span(3, 4, gen_ai__operation__name="chat"),
    span(4, 6, **REFUND),
]


def blocks() -> Iterator[tuple[str, str]]:
    yield from BLOCK.findall(HOW_TO.read_text(encoding="utf-8"))


def lines_of(text: str) -> str:
    """The JSON values of a block, each on a line of its own."""
    decoder, values, at = json.JSONDecoder(), [], 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        values.append(json.dumps(value))
        at += len(text[at:]) - len(text[at:].lstrip())
    return "".join(f"{value}\n" for value in values)


def typed(command: str, folder: Path) -> list[str]:
    """What a command of the page prints, also into a file."""
    program, *words = shlex.split(command)
    assert program == "agent-tripwire"
    out, err = io.BytesIO(), io.StringIO()
    within = Streams(stdin=io.BytesIO(), stdout=out, stderr=err, clock=lambda: 0.0)
    with contextlib.chdir(folder):
        cli.main(words[: words.index(">")] if ">" in words else words, within=within)
    assert "Traceback" not in err.getvalue(), err.getvalue()
    printed = out.getvalue().decode()
    if ">" in words:
        (folder / words[-1]).write_text(printed, encoding="utf-8")
    return printed.splitlines()


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text(
        json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": SPANS}]}]}), encoding="utf-8"
    )
    printed: list[str] = []
    shown = 0
    for language, text in blocks():
        file = FILE.match(text)
        if file is not None:
            content = text[file.end() :]
            (tmp_path / file[1]).write_text(
                lines_of(content) if language == "json" else content, encoding="utf-8"
            )
        elif language == "console":
            printed = typed(text, tmp_path)
        elif language == "text":
            shown += 1
            wanted = [line.replace("[", "[[]") for line in text.splitlines()]
            assert len(printed) == len(wanted), "\n".join(printed)
            for line, pattern in zip(printed, wanted, strict=True):
                assert fnmatchcase(line, pattern), f"{line}\nis not\n{pattern}"

    assert shown == 7


def test_every_block_of_the_page_is_followed_here_or_says_why_not() -> None:
    text = HOW_TO.read_text(encoding="utf-8")
    notes = re.findall(r"^<!-- not executed: (.*) -->\n```(\w+)$", text, re.MULTILINE)

    assert len(notes) == len(list(blocks()))
    assert {language for note, language in notes if "test_replay_pages.py" not in note} == {"yaml"}


def test_what_the_readme_types_reads_a_folder_of_traces(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    step = {"tool": "find", "effect": "read", "outcome": {"status": "ok"}}
    steps = [{**step, "args": {"n": number}} for number in range(3)]
    trace = {"id": "good", "trace": steps}
    (tmp_path / "traces" / "good.jsonl").write_text(json.dumps(trace), encoding="utf-8")
    commands = re.findall(
        r"^(agent-tripwire replay [^#\n]*)", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )

    replayed, suggested = (typed(command, tmp_path) for command in commands)

    assert replayed[0] == "1 run, 3 steps: 0 would have been stopped"
    assert "[classes.default]" in suggested


def named(page: Path) -> set[str]:
    return set(
        re.findall(r"[\w.@-]+", " ".join(re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))))
    )


def test_the_reference_names_every_option() -> None:
    parser = argparse.ArgumentParser()
    options.add_options(parser)
    declared = set(re.findall(r"^  (--[a-z-]+)", parser.format_help(), re.MULTILINE))

    assert "--suggest" in declared
    assert declared - named(REFERENCE) == set()


@pytest.mark.parametrize(
    "kind", [recorded.RunFields, recorded.StepFields, recorded.OutcomeFields, Limits, Expect]
)
def test_the_reference_names_every_field_of(kind: Any) -> None:
    assert set(kind.__struct_fields__) - named(REFERENCE) == set()


def test_the_reference_names_every_attribute() -> None:
    kept = names.KEPT_OF_ANY | names.KEPT_OF_TOOLS | names.KEPT_OF_MODELS
    spelled = {name for name in kept if "annotations" not in name}

    assert spelled - named(REFERENCE) == set()
