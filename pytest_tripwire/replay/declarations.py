"""What a team declares about its tools, as `--specs` reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.replay import tables
from pytest_tripwire.replay.budgets import TOP
from pytest_tripwire.timeline import Effect, ToolSpec


def specs_of(content: Mapping[str, Any], file: str) -> dict[str, ToolSpec]:
    """The declarations that stand in a file, by tool name.

    Raises:
        TableError: if there are none, or one of them is wrong.
    """
    tables.only(content, TOP, file)
    if "tools" not in content:
        raise tables.TableError(
            f"{file}: no tool is declared; write a table [tools.NAME] for each tool"
        )
    declared = tables.table(content["tools"], f"{file}: tools")
    return {name: _spec(name, fields, f"{file}: tools.{name}") for name, fields in declared.items()}


def _spec(name: str, fields: Any, where: str) -> ToolSpec:
    given = tables.table(fields, where)
    if "effect" not in given:
        kinds = ", ".join(f'"{each.value}"' for each in Effect)
        raise tables.TableError(f"{where}: say what the tool does: effect is one of {kinds}")
    return tables.made(ToolSpec, {"name": name, **given}, where)


def line_for(tool: str) -> str:
    """The line that declares `tool`, with the words to choose from."""
    return f'tools.{key(tool)}.effect = "write" (or "read", or "handoff")'


def key(name: str) -> str:
    """`name` as a key of TOML."""
    if name and name.isascii() and name.replace("_", "").replace("-", "").isalnum():
        return name
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
