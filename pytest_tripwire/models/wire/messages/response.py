"""Writes a Messages response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked


def render(asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
    """The response's body."""
    said = {"content": list(_blocks(answer)), "stop_reason": stop_reason(answer)}
    return {**head(asked), **said, "usage": usage_body(usage)}


def head(asked: Asked) -> dict[str, Any]:
    """The response before the model has said anything."""
    conversation = asked.conversation
    # A move that goes out one call at a time makes several responses of one turn, and frameworks
    # take messages of one id for the same.
    place = f"{conversation.turn}_{conversation.made}"
    return {
        "id": f"msg_{conversation.key}_{place}",
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
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


def _blocks(answer: Answer) -> Iterator[dict[str, Any]]:
    if answer.text:
        yield {"type": "text", "text": answer.text}
    for call in answer.calls:
        # Arguments that are no JSON have no place in a body that is.
        yield tool_use(call, {} if call.spoilt else dict(call.arguments))
