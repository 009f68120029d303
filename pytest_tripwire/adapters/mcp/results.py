"""A result of the protocol, as the breaker reads it and as the model is shown it."""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types

from pytest_tripwire.adapters.bridge import as_text, is_refused
from pytest_tripwire.adapters.mcp.serving import failed
from pytest_tripwire.guard.nudge import FIELD


class Kept:
    """One call's result in both forms: the protocol's, and the fields in which the breaker looks
    for ids, versions and errors.
    """

    def __init__(self) -> None:
        self._pairs: list[tuple[Any, Any]] = []

    def seen(self, result: Any) -> Any:
        """The result as the breaker reads it."""
        parsed = _fields(result)
        self._pairs.append((parsed, result))
        return parsed

    def shown(self, result: Any) -> Any:
        """The protocol's result: the server's own, with a hint if there is one, the refusal, or the
        answer to a call that has not begun.
        """
        if isinstance(result, types.CallToolResult):
            return result
        if not self._pairs:
            return failed(as_text(result))
        parsed, own = self._pairs[-1]
        if parsed is result:
            return own
        # A server's own result may say `refused` too; the breaker's refusal carries no hint.
        if is_refused(result) and FIELD not in result:
            return failed(as_text(result))
        return _with_hint(own, parsed, result)


def _fields(result: Any) -> Any:
    """What a result says. One that is an error is a failure, whatever it says."""
    texts = [each.text for each in result.content if each.type == "text"]
    if result.is_error:
        return {"is_error": True, "content": [{"text": each} for each in texts]}
    if isinstance(result.structured_content, dict):
        return dict(result.structured_content)
    if len(texts) == len(result.content) == 1:
        return _object(texts[0])
    return {"content": [each.model_dump(mode="json") for each in result.content]}


def _object(text: str) -> Any:
    """The object that a text is as JSON; the text, if it is none."""
    try:
        parsed = json.loads(text) if text.lstrip().startswith("{") else None
    except ValueError:
        parsed = None
    return parsed if isinstance(parsed, dict) else text


def _with_hint(own: Any, parsed: Any, result: Any) -> Any:
    """The server's result, and the hint beside it: what it has said stays as it is."""
    if isinstance(result, dict):
        hint = json.dumps({FIELD: result.get(FIELD)})
    else:
        hint = str(result).removeprefix(str(parsed)).strip()
    said = types.TextContent(type="text", text=hint)
    return own.model_copy(update={"content": [*own.content, said]})
