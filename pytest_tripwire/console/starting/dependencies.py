"""What the dependency files of a project name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NAME = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_SEPARATORS = re.compile(r"[-_.]+")


def named(folder: Path) -> Iterator[tuple[Path, set[str]]]:
    """The dependency files of a project, each with the distributions that it names."""
    for file in sorted([*folder.glob("requirements*.txt"), *folder.glob("requirements/*.txt")]):
        yield file, set(map(_plain, _text(file).splitlines()))
    project = folder / "pyproject.toml"
    yield project, set(map(_plain, _of_project(_text(project))))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return ""


def _plain(requirement: str) -> str:
    """The name in a requirement, as all ways to write it are compared; empty if there is none."""
    name = _NAME.match(requirement)
    return _SEPARATORS.sub("-", name[1]).lower() if name else ""


def _of_project(text: str) -> Iterator[str]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    yield from _texts(_at(table, "project", "dependencies"))
    yield from _texts(_at(table, "project", "optional-dependencies"))
    yield from _texts(_at(table, "dependency-groups"))
    yield from _texts(_at(table, "tool", "uv", "dev-dependencies"))
    yield from _keys(_at(table, "tool", "poetry", "dependencies"))
    groups = _at(table, "tool", "poetry", "group")
    for group in groups if isinstance(groups, dict) else ():
        yield from _keys(_at(groups, group, "dependencies"))


def _at(table: Any, *path: str) -> Any:
    for key in path:
        table = table.get(key) if isinstance(table, dict) else None
    return table


def _texts(value: Any) -> Iterator[str]:
    """Every text of a list, or of the lists of a table."""
    lists = value.values() if isinstance(value, dict) else [value]
    for each in filter(_is_list, lists):
        yield from (text for text in each if isinstance(text, str))


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _keys(value: Any) -> Iterator[str]:
    return iter(value) if isinstance(value, dict) else iter(())
