"""The JSON schema of a callable's parameters, from its signature and docstring."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

_TYPES: dict[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    Decimal: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_ARGUMENT = re.compile(r"^ +(\w+) *(?:\([^)]*\))?: +(\S.*)$", re.MULTILINE)


def parameters(tool: Callable[..., Any]) -> dict[str, Any]:
    """The `parameters` object of a function tool: every named parameter, its type where the
    annotation is a plain one, and its line of the docstring's `Args:` section.
    """
    hints, lines = _hints(tool), dict(_ARGUMENT.findall(inspect.getdoc(tool) or ""))
    named = [each for each in inspect.signature(tool).parameters.values() if _is_named(each)]
    return {
        "type": "object",
        "properties": {each.name: _property(each.name, hints, lines) for each in named},
        "required": [each.name for each in named if each.default is inspect.Parameter.empty],
        "additionalProperties": False,
    }


def summary(tool: Callable[..., Any]) -> str:
    """The first paragraph of the docstring, in one line."""
    return " ".join((inspect.getdoc(tool) or tool.__name__).split("\n\n")[0].split())


def _property(name: str, hints: Mapping[str, Any], lines: Mapping[str, str]) -> dict[str, Any]:
    hint = hints.get(name)
    kind = _TYPES.get(typing.get_origin(hint) or hint)
    described = {"description": lines[name]} if name in lines else {}
    return {**({"type": kind} if kind else {}), **described}


def _is_named(parameter: inspect.Parameter) -> bool:
    return parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)


def _hints(tool: Callable[..., Any]) -> Mapping[str, Any]:
    try:
        return typing.get_type_hints(tool)
    except Exception:  # noqa: BLE001 - an annotation may name anything, or nothing importable
        return {}
