"""House rules that no linter knows."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "pytest_tripwire"

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60

FORBIDDEN_TEXT = {
    "a package registry's host": r"pypi\.org|pythonhosted\.org|registry\.npmjs\.org",
    "an index address": r"https?://\S*/simple\b|(?:index|find-links)[-\w]*[ =:]+\"?\w+://",
    "an absolute home path": r"(?<![\w.])/(?:home|Users|root|work)/\w",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """What the rules ask of a module, without its tree, which is large."""

    lines: int
    functions: tuple[tuple[str, int, int], ...]
    """Name, line and length of each."""
    told: bool
    """Whether it says what it is for."""


Modules = dict[Path, Module]


@pytest.fixture(scope="module")
def modules() -> Modules:
    """Each module of the package, read once for all rules."""
    return {path: _read(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


def _read(text: str) -> Module:
    tree = ast.parse(text)
    return Module(
        lines=len(text.splitlines()),
        functions=tuple(
            (node.name, node.lineno, (node.end_lineno or 0) - node.lineno + 1)
            for node in ast.walk(tree)
            if isinstance(node, Function)
        ),
        told=ast.get_docstring(tree) is not None,
    )


@pytest.fixture(scope="module")
def texts() -> list[tuple[Path, str]]:
    """All files of text, read once for all that none may name."""
    return list(text_files())


def _is_left_behind(folder: Path) -> bool:
    """Say whether a tool made the folder: a cache, a build, a virtual environment, git's own."""
    hidden = folder.name.startswith(".") and folder.name not in {".ci", ".github"}
    built = folder.name in {"__pycache__", "build", "dist", "htmlcov"}
    return hidden or built or (folder / "pyvenv.cfg").exists()


def text_files() -> Iterator[tuple[Path, str]]:
    for folder, subfolders, names in os.walk(ROOT):
        here = Path(folder)
        subfolders[:] = [name for name in subfolders if not _is_left_behind(here / name)]
        # In a worktree `.git` is a file that says where the repository lies.
        for name in set(names) - {".git"}:
            try:
                yield here / name, (here / name).read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def _where(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def _is_public(module: Path) -> bool:
    return all(not part.startswith("_") for part in module.relative_to(PACKAGE).parts) or (
        module.name == "__init__.py"
    )


def test_no_module_is_too_long_to_read(modules: Modules) -> None:
    long = {_where(path, 1): m.lines for path, m in modules.items() if m.lines > MAX_FILE_LINES}

    assert modules
    assert not long, f"split these modules, they have more than {MAX_FILE_LINES} lines: {long}"


def test_no_function_is_too_long_to_read(modules: Modules) -> None:
    long = {
        _where(path, line): f"{name} has {length} lines"
        for path, module in modules.items()
        for name, line, length in module.functions
        if length > MAX_FUNCTION_LINES
    }

    assert not long, f"split these functions, the limit is {MAX_FUNCTION_LINES} lines: {long}"


def test_every_public_module_says_what_it_is_for(modules: Modules) -> None:
    silent = [_where(path, 1) for path in filter(_is_public, modules) if not modules[path].told]

    assert not silent, f"give these modules a docstring: {silent}"


@pytest.mark.parametrize("what", FORBIDDEN_TEXT)
def test_no_text_file_names(texts: list[tuple[Path, str]], what: str) -> None:
    pattern = re.compile(FORBIDDEN_TEXT[what])
    found = [
        f"{_where(path, number)}: {line.strip()[:100]}"
        for path, text in texts
        if pattern.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]

    assert not found, f"remove {what}:\n" + "\n".join(found)
