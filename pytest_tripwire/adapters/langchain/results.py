"""What a tool's message says to the breaker, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolMessage

from pytest_tripwire.adapters.bridge import as_text
from pytest_tripwire.guard.nudge import FIELD


def seen(answer: Any) -> Any:
    """What the breaker is told of an answer: its data where the text is JSON, and an error where
    the framework has made a message of one.
    """
    message = _message(answer)
    if message is None:
        return {"goto": str(getattr(answer, "goto", answer))}
    if is_error(answer):
        return {"is_error": True, "content": message.content}
    return _data(message.content)


def is_error(answer: Any) -> bool:
    """Whether the framework has made a message of an error."""
    return getattr(_message(answer), "status", None) == "error"


def hinted(answer: Any, told: Any) -> Any:
    """The answer with the hint, if the breaker has put one to what it was `told`."""
    message = _message(answer)
    if message is None or message is not answer:
        return answer
    if isinstance(told, str) and told != message.content:
        return message.model_copy(update={"content": told})
    if not isinstance(told, Mapping) or FIELD not in told:
        return answer
    if message.status == "error":
        return message.model_copy(update={"content": f"{message.content}\n\n[{told[FIELD]}]"})
    return message.model_copy(update={"content": as_text(told)})


def refusal(request: Any, result: Any) -> Any:
    """What the model is shown of a call that did not run."""
    call = request.tool_call
    return ToolMessage(as_text(result), tool_call_id=call["id"], name=call["name"])


def nothing_yet(request: Any) -> Any:
    """What stands for a call that is only decided about; no model is shown it."""
    call = request.tool_call
    return ToolMessage("", tool_call_id=call["id"], name=call["name"])


def problem(request: Any, error: Exception) -> Any:
    """What the model is shown of arguments that do not fit."""
    call = request.tool_call
    text = f"Error invoking tool {call['name']!r}: {error}\nPlease fix the arguments and try again."
    return ToolMessage(text, tool_call_id=call["id"], name=call["name"], status="error")


def _message(answer: Any) -> Any:
    """The tool's message, which may be part of what it changes in the agent's state."""
    if isinstance(answer, ToolMessage):
        return answer
    update = getattr(answer, "update", None)
    messages = update.get("messages") if isinstance(update, Mapping) else None
    found = [each for each in messages or [] if isinstance(each, ToolMessage)]
    return found[0] if found else None


def _data(content: Any) -> Any:
    if not isinstance(content, str) or not content.lstrip().startswith(("{", "[")):
        return content
    try:
        return json.loads(content)
    except ValueError:
        return content
