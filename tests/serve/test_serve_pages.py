"""The pages about serve: nothing is left out, and what they show is what is tested."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

from pytest_tripwire import Harness, Task
from pytest_tripwire.serve import options
from pytest_tripwire.serve.environment import variables
from pytest_tripwire.serve.report import Report

ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to" / "other-languages.md"
REFERENCE = ROOT / "docs" / "reference" / "serve.md"
AGENT = ROOT / "tests" / "frameworks" / "node" / "agent.mjs"


def named(page: Path) -> set[str]:
    code = " ".join(re.findall(r"`([^`\n]+)`", page.read_text("utf-8")))
    return set(re.findall(r"[\w-]+", code))


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(allow_abbrev=False)
    options.add_options(made)
    return made


def commands() -> list[str]:
    """Every call of the command that a page or the help shows."""
    pages = [HOW_TO.read_text("utf-8"), parser().epilog or "", (ROOT / "README.md").read_text()]
    return re.findall(r"agent-tripwire (serve [a-z\"][^\n#]*)", "\n".join(pages))


def test_the_reference_names_every_option() -> None:
    declared = set(re.findall(r"^  (--[a-z-]+)", parser().format_help(), re.MULTILINE))

    assert "--report" in declared
    assert declared - named(REFERENCE) == set()


def test_the_reference_names_every_variable() -> None:
    found: set[str] = set()

    def agent(task: Task) -> None:
        found.update(variables(task, case_id="x", mcp_url="y", inherited={}, world_url="z"))

    Harness("stale-resume", agent).run()

    assert {"TRIPWIRE_RESUME", "ANTHROPIC_BASE_URL"} <= found
    assert found - named(REFERENCE) == set()


def test_the_reference_names_every_field_of_the_report() -> None:
    assert set(Report.__struct_fields__) - named(REFERENCE) == set()


def test_the_page_shows_the_agent_that_is_tested() -> None:
    block = re.compile(r"^```js\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    (shown,) = block.findall(HOW_TO.read_text("utf-8"))

    assert shown == AGENT.read_text("utf-8")


@pytest.mark.parametrize("command", commands())
def test_what_is_shown_can_be_typed(command: str) -> None:
    typed = re.sub(r" \|\| .*| &$", "", command).replace('"$case"', "lost-write")
    ours, theirs = options.cut(shlex.split(typed)[1:])

    wanted = options.wanted(parser().parse_args(ours), theirs)

    assert wanted.mcp is not None
