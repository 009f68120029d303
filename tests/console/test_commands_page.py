"""The page about the commands: what it shows is what they print, and no option is left out."""

from __future__ import annotations

import argparse
import datetime as dt
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.console import baseline_options, gate_options, init_options

from .conftest import TODAY, Command, RunPytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCK = re.compile(r"^<!-- ([^\n]*) -->\n```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# ([\w./-]+)\n")
#: The day on the page, of which it says that it is 30 days off.
DAY, DAYS = "2027-01-31", 30

COMMANDS = {"init": init_options, "gate": gate_options, "baseline": baseline_options}


@pytest.fixture
def typed(command: Command, run_pytest: RunPytest) -> Callable[[str], tuple[int, str]]:
    """Runs a line of the page: its status, and what it prints."""

    def run(line: str) -> tuple[int, str]:
        program, *words = shlex.split(line)
        if program == "pytest":
            done = run_pytest(*words)
            return int(done.ret), "\n".join([*done.outlines, ""])
        assert program == "agent-tripwire"
        return command(*words), command.out

    return run


def test_the_page_does_what_it_says(
    pytester: pytest.Pytester,
    typed: Callable[[str], tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    printed, shown = "", 0
    day = str(TODAY + dt.timedelta(days=DAYS))
    for note, language, text in BLOCK.findall(TEXT.replace(DAY, day)):
        file = FILE.match(text)
        if file is not None:
            (pytester.path / file[1]).parent.mkdir(exist_ok=True)
            (pytester.path / file[1]).write_text(text, encoding="utf-8")
        elif language == "console":
            expected = int((re.findall(r"exit status: (\d)", note) or [0])[0])
            for line in text.splitlines():
                status, printed = typed(line)
                assert status == expected, f"{line}\n{printed}"
        else:
            shown += 1
            assert text in printed, f"the page shows\n{text}\nand this was printed:\n{printed}"
    assert shown == 7


def test_every_block_is_followed() -> None:
    assert len(re.findall(r"^```\w+$", TEXT, re.MULTILINE)) == len(BLOCK.findall(TEXT))
    assert all("test_commands_page.py follows" in note for note, _, _ in BLOCK.findall(TEXT))


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_names_every_option_and_status(name: str) -> None:
    options: Any = COMMANDS[name]
    parser = argparse.ArgumentParser(prog="x")
    options.add_options(parser)
    section = TEXT.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    rows = " ".join(re.findall(r"^\| ([^|]+) \|", section, re.MULTILINE))

    declared = set(re.findall(r"-[\w-]+", parser.format_usage())) - {"-h"}
    assert declared
    assert declared <= set(re.findall(r"-[\w-]+", rows))
    statuses = re.findall(r"^  (\d)  ", parser.format_help(), re.MULTILINE)
    assert statuses
    assert re.findall(r"\b\d\b", rows) == statuses
