"""The page about the commands names every option and status of `agent-tripwire records`."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from pytest_tripwire.console.records import options
from pytest_tripwire.console.records.options import VARIABLE

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "commands.md").read_text("utf-8")
SECTION = TEXT.partition("\n## records\n")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in SECTION.splitlines()
    if line.startswith("| `")
]
#: By option: the sub-commands that the page says have it.
SAID = {
    option: {"all"} if row[1] == "all" else set(re.findall(r"[\w-]+", row[1]))
    for row in ROWS
    for option in re.findall(r"`(--[\w-]+)", row[0])
}


def parsers() -> dict[str, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser(prog="x")
    options.add_options(parser)
    (kinds,) = (each for each in parser._actions if each.dest == "what")  # noqa: SLF001 - nothing else lists them
    assert isinstance(kinds.choices, dict)
    return kinds.choices


def test_every_sub_command_and_its_options_are_named() -> None:
    declared: dict[str, set[str]] = {}
    for name, parser in parsers().items():
        for option in set(re.findall(r"--[\w-]+", parser.format_usage())):
            declared.setdefault(option, set()).add(name)

    declared["--store"] = {"all"}
    assert declared == SAID
    named = {row[0].split()[1].strip("`") for row in ROWS if row[0].startswith("`records ")}
    assert named == set(parsers())


def test_every_status_and_the_variable_are_named() -> None:
    statuses = re.findall(r"^  (\d)  ", parsers()["list"].format_help(), re.MULTILINE)

    assert re.findall(r"^\| (\d) \|", SECTION, re.MULTILINE) == statuses
    assert f"`{VARIABLE}`" in SECTION
