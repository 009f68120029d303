"""The page about CI names every file that can weaken the gate, and the right number of shards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "set-up-ci.md").read_text("utf-8")
OWNERS = re.compile(r"^```text\n# .github/CODEOWNERS\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def owned() -> dict[str, str]:
    (text,) = OWNERS.findall(PAGE)
    return dict(line.split() for line in text.splitlines())


#: Where pytest looks for its configuration, by its documentation.
CONFIGURATIONS = (
    "pytest.toml",
    ".pytest.toml",
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
)


@pytest.mark.parametrize(
    "file", ["tripwire-baseline.toml", "conftest.py", "requirements.txt", *CONFIGURATIONS]
)
def test_every_file_that_may_weaken_the_gate_has_an_owner_in_every_folder(file: str) -> None:
    """A pattern with a slash before it is of the root alone."""
    assert owned()[file].startswith("@")
    table = PAGE.partition("## Who may weaken the gate")[2].partition("\n## ")[0]
    rows = "".join(line for line in table.splitlines() if line.startswith("| "))
    assert f"`{file.removeprefix('.')}`" in rows


def test_the_files_of_the_service_have_an_owner() -> None:
    assert {"/.github/", "/.gitlab-ci.yml"} <= owned().keys()


def test_the_verdict_of_shards_expects_as_many_as_there_are() -> None:
    sizes = [len(found.split(",")) for found in re.findall(r"(?i)agent: \[(.*?)\]", PAGE)]
    verdicts = re.findall(r"agent-tripwire gate reports/\*\.json(.*)", PAGE)

    assert sizes == [2, 2]
    assert verdicts == [f" --expect {size}" for size in sizes]
