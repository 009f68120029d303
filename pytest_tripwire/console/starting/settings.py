"""The lines by which pytest's configuration makes a gate, and where a project keeps them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path

import msgspec


class Form(Enum):
    """How a file writes a value: as text, as TOML for pytest's ini values, or as plain TOML."""

    INI = "ini"
    TOML = "toml"
    NATIVE = "native"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A file in which pytest reads its configuration.

    Args:
        path: where it lies.
        section: the table that the values belong to.
        form: how it writes them.
        text: what it holds.
    """

    path: Path
    section: str
    form: Form
    text: str = ""


#: As pytest looks for them, with the section that makes one count.
_FILES: tuple[tuple[str, str, Form], ...] = (
    ("pytest.toml", "pytest", Form.NATIVE),
    (".pytest.toml", "pytest", Form.NATIVE),
    ("pytest.ini", "pytest", Form.INI),
    (".pytest.ini", "pytest", Form.INI),
    ("pyproject.toml", "tool.pytest", Form.NATIVE),
    ("pyproject.toml", "tool.pytest.ini_options", Form.TOML),
    ("tox.ini", "pytest", Form.INI),
    ("setup.cfg", "tool:pytest", Form.INI),
)
_OF_PYTEST_ALONE = {"pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini"}

#: Each with the word by which one knows that it is there already.
_VALUES: tuple[tuple[str, str, str], ...] = (
    ("addopts", "-p tripwire", "-p tripwire"),
    ("required_plugins", "pytest-agent-tripwire", "pytest-agent-tripwire"),
    ("tripwire_protection", "harness", ""),
    ("tripwire_agents", "support", "support"),
)
_LISTS = {"required_plugins", "tripwire_agents"}


def config_of(folder: Path) -> Config | None:
    """Where a project has pytest's configuration, or would look for it; None if nowhere."""
    whole = folder.resolve()
    for here in (folder, *whole.parents):
        for name, section, form in _FILES:
            text = _text(here / name)
            if text is not None and (name in _OF_PYTEST_ALONE or f"[{section}]" in text):
                return Config(path=here / name, section=section, form=form, text=text)
    project = folder / "pyproject.toml"
    text = _text(project)
    if text is None:
        return None
    return Config(path=project, section="tool.pytest.ini_options", form=Form.TOML, text=text)


def _text(path: Path) -> str | None:
    """What a file holds, as far as it is text; None if there is no such file."""
    try:
        return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else None
    except OSError:
        return ""


def whole(folder: Path, tests: Path) -> Config:
    """The configuration of a project that has none, with all that is needed."""
    path = folder / "pytest.ini"
    lines = ["[pytest]", *(_line(key, value, Form.INI) for key, value, _ in _VALUES)]
    if (folder / "src").is_dir():
        lines.append("pythonpath = src")
    elif tests != folder:
        lines.append("pythonpath = .")
    return Config(path=path, section="pytest", form=Form.INI, text="\n".join(lines) + "\n")


def missing(config: Config) -> tuple[Sequence[str], Sequence[tuple[str, str]]]:
    """What a configuration lacks: whole lines, and what is to be added to values (value, key)."""
    lines: list[str] = []
    more: list[tuple[str, str]] = []
    for key, value, word in _VALUES:
        if not re.search(rf"^\s*{key}\s*=", config.text, re.MULTILINE):
            lines.append(_line(key, value, config.form))
        elif word not in _spaced(config.text):
            more.append((value, key))
    return lines, more


def _spaced(text: str) -> str:
    """Options that stand apart in a list, as they stand in one text."""
    return re.sub(r"""["'],\s*["']""", " ", text)


def _line(key: str, value: str, form: Form) -> str:
    if form is Form.INI:
        return f"{key} =\n    {value}" if key == "tripwire_agents" else f"{key} = {value}"
    if key in _LISTS:
        return f"{key} = [{_quoted(value)}]"
    if key == "addopts" and form is Form.NATIVE:
        return f"{key} = [{', '.join(map(_quoted, value.split()))}]"
    return f"{key} = {_quoted(value)}"


def _quoted(value: str) -> str:
    return f'"{value}"'
