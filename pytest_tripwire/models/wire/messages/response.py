"""Writes a Messages response."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked


def render(asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
    """The response's body."""
    said = {"content": content(answer), "stop_reason": stop_reason(answer)}
    return {**head(asked, answer), **said, "usage": usage_body(usage)}


def told(asked: Asked, answer: Answer) -> dict[str, Any]:
    """All that the model was told, with what it answered as the last message."""
    before = asked.echo["told"]
    said = {"role": "assistant", "content": content(answer)}
    return {**before, "messages": [*before["messages"], said]}


def message_id(asked: Asked, answer: Answer) -> str:
    """The id of the response: the same for the same history and answer, on every server."""
    # No turn in it: where calls go out one at a time several responses are of one turn, and
    # frameworks take messages of one id for the same.
    said = msgspec.json.encode(told(asked, answer), order="deterministic")
    return f"msg_{hashlib.sha256(said).hexdigest()[:24]}"


def head(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The response before the model has said anything."""
    return {
        "id": message_id(asked, answer),
        "type": "message",
        "role": "assistant",
        "model": asked.conversation.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def stop_reason(answer: Answer) -> str:
    """Why the model stopped."""
    return "tool_use" if answer.calls else "end_turn"


def usage_body(usage: Usage | None) -> dict[str, Any]:
    """Sizes in tokens."""
    if usage is None:
        # Where the usage itself is missing, the provider's SDK and frameworks on it break down.
        return {"input_tokens": None, "output_tokens": None}
    return {
        "input_tokens": usage.prompt,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": usage.completion,
    }


def tool_use(call: BoundCall, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call, with the part of its arguments that goes out."""
    return {"type": "tool_use", "id": call.call_id, "name": call.tool, "input": arguments}


def content(answer: Answer) -> list[dict[str, Any]]:
    """What the model says and calls, in blocks."""
    words = [{"type": "text", "text": answer.text}] if answer.text else []
    # Arguments that are no JSON have no place in a body that is.
    calls = [tool_use(each, {} if each.spoilt else dict(each.arguments)) for each in answer.calls]
    return [*words, *calls]
