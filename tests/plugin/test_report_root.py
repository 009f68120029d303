"""A report says where in its repository the ids of its tests begin."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("repository", "root"), [("", "packages/desk"), ("packages/desk", ""), (None, "")]
)
def test_the_root_of_a_report(project: Any, repository: str | None, root: str) -> None:
    folder = project.pytester.path / "packages" / "desk"
    project.write("packages/desk/pytest.ini", "[pytest]\n")
    project.write("packages/desk/test_other", "def test_other(): pass")
    if repository is not None:
        (project.pytester.path / repository / ".git").mkdir()

    project.run(f"--rootdir={folder}", str(folder), "--tripwire-report=report.json")

    assert json.loads(project.pytester.path.joinpath("report.json").read_bytes())["evidence"][
        "root"
    ] == (root)
