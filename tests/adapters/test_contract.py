"""What every adapter that the harness knows has to bring along, seen without its framework."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from pytest_tripwire.adapters import FRAMEWORKS
from pytest_tripwire.harness import task

ROOT = Path(__file__).parents[2]
ADAPTERS = ROOT / "pytest_tripwire" / "adapters"
EACH = pytest.mark.parametrize("name", FRAMEWORKS)


def module_of(name: str) -> Path:
    """The file that is imported for an adapter."""
    package = ADAPTERS / name / "__init__.py"
    return package if package.is_file() else ADAPTERS / f"{name}.py"


def names_of(file: Path) -> set[str]:
    """What a module defines or imports at its top."""
    found: set[str] = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            found |= {each.asname or each.name for each in node.names}
    return found


def needed_by(folder: Path) -> set[str]:
    """What an agent of the gallery needs to be installed."""
    table = tomllib.loads((folder / "expected.toml").read_text("utf-8"))
    return set(table.get("needs", []))


def installed_by(extra: str) -> set[str]:
    """The distributions that an extra installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = project["optional-dependencies"][extra]
    return {each.partition(">=")[0].partition("[")[0] for each in wanted}


@EACH
def test_it_has_what_the_harness_calls(name: str) -> None:
    assert {"tools", "adopt", "definition"} <= names_of(module_of(name))


@EACH
def test_a_task_hands_out_its_tools(name: str) -> None:
    assert callable(getattr(task.Tools, name, None))


@EACH
def test_a_task_hands_out_its_model_where_there_is_one(name: str) -> None:
    file = ROOT / "pytest_tripwire" / "models" / "inprocess" / f"{name}.py"
    has_method = callable(getattr(task.Model, name, None))

    assert bool(FRAMEWORKS[name].model) == file.is_file() == has_method


@EACH
def test_its_extra_installs_something_with_a_floor(name: str) -> None:
    assert installed_by(FRAMEWORKS[name].extra)


@EACH
def test_it_is_tried_with_the_framework_itself(name: str) -> None:
    assert list((ROOT / "tests" / "frameworks").glob(f"test_adapter_{name}*.py"))


@EACH
def test_an_agent_of_the_gallery_needs_it(name: str) -> None:
    installed = installed_by(FRAMEWORKS[name].extra)
    folders = [each.parent for each in (ROOT / "scenarios").glob("*/expected.toml")]

    assert [each.name for each in folders if needed_by(each) & installed]


@EACH
def test_a_page_tells_of_it(name: str) -> None:
    assert (ROOT / "docs" / "how-to" / "frameworks" / f"{name}.md").is_file()
