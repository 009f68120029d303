"""What `agent-tripwire init` writes: formatted, typed, and contained in all cases as it stands.

Those for frameworks that are not installed here are run by tests/frameworks/test_init_templates.py.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from pytest_tripwire.console.starting.frameworks import KNOWN

from .conftest import Command, RunPytest

NAMES = [each.name for each in KNOWN]
MANY_LINES = 80
ROOT = Path(__file__).parents[2]


@pytest.fixture
def every(tmp_path: Path, command: Command) -> Path:
    """A folder with a project for each template, of a name that is no package's."""
    for number, name in enumerate(NAMES):
        folder = tmp_path / "all" / f"project_{number}"
        folder.mkdir(parents=True)
        assert command("init", "--framework", name, str(folder)) == 0
    return tmp_path / "all"


def check(folder: Path, *argv: str) -> None:
    """Demand that a tool has nothing to say of a folder, in which it runs."""
    command = [sys.executable, "-m", *argv, "."]
    done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def has(tool: str) -> bool:
    try:
        return bool(version(tool))
    except PackageNotFoundError:
        return False


@pytest.mark.skipif(not has("ruff"), reason="needs the linters, see requirements/dev.txt")
def test_it_is_formatted_whatever_the_width(every: Path) -> None:
    for width in ("88", "100", "120"):
        check(every, "ruff", "format", "--isolated", "--check", "--line-length", width)
    rules = ("--select=E,F,W,I,UP,B,ANN,D1,SIM,PT,ARG,RUF", "--ignore=ANN401")
    check(every, "ruff", "check", "--isolated", *rules)


@pytest.mark.skipif(not has("mypy"), reason="needs the linters, see requirements/dev.txt")
def test_it_is_typed(every: Path) -> None:
    """By the project's own rules, and what it has found out already, as the package is large."""
    kept = ("--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(ROOT / ".mypy_cache"))
    check(every, "mypy", *kept, "--explicit-package-bases")


def test_it_is_short(every: Path) -> None:
    for path in every.rglob("*.py"):
        assert len(path.read_text("utf-8").splitlines()) <= MANY_LINES, path


@pytest.mark.parametrize("name", ["plain", "openai", "anthropic"])
def test_it_is_contained_in_all_cases(
    tmp_path: Path, command: Command, run_pytest: RunPytest, name: str
) -> None:
    assert command("init", "--framework", name, str(tmp_path)) == 0

    done = run_pytest("-W", "error", "-p", "no:asyncio", "--tripwire-gate", tmp_path)

    done.assert_outcomes(passed=8)
    done.stdout.fnmatch_lines(
        ["tripwire gate passed: 8 of 8 cells contained (protection: harness)"]
    )
