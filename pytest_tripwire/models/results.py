"""Reads what a tool result says to the model."""

from __future__ import annotations

import ast
from typing import Any

import msgspec

from pytest_tripwire.models.script import ToolResult

#: A refusal is short; longer text is not worth the price of parsing it as Python.
_LONGEST_REPR = 20_000


def read_result(call_id: str, text: str) -> ToolResult:
    """The tool result with `text`, marked as refused when it says so."""
    content = _json(text) if "refused" in text else None
    refused = isinstance(content, dict) and content.get("refused") is True
    return ToolResult(call_id=call_id, text=text, refused=refused)


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _python(text)


def _python(text: str) -> Any:
    # Several frameworks show the model `str()` of a dict, which is not JSON.
    if len(text) > _LONGEST_REPR or not text.lstrip().startswith("{"):
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
