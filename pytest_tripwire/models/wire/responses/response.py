"""Writes a Responses response."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.openai_shapes import CREATED
from pytest_tripwire.models.wire.responses.ids import digest, make_function_id, make_message_id


def response_id(asked: Asked, answer: Answer) -> str:
    """The id of the response: the same for the same request and answer, on every server."""
    return f"resp_{_digest(asked, answer)}"


def render(asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
    """The response's body."""
    return {
        **begun(asked, answer),
        "status": "completed",
        "completed_at": CREATED,
        "output": output(asked, answer),
        "usage": _usage(usage) if usage else None,
    }


def begun(asked: Asked, answer: Answer) -> dict[str, Any]:
    """The body before there is any output."""
    return {
        "id": response_id(asked, answer),
        "object": "response",
        "created_at": CREATED,
        "status": "in_progress",
        "completed_at": None,
        "error": None,
        "incomplete_details": None,
        "model": asked.conversation.model,
        "output": [],
        "usage": None,
        **asked.echo["repeats"],
    }


def output(asked: Asked, answer: Answer) -> list[dict[str, Any]]:
    """The items: what is said, if there is anything, and the calls."""
    says = answer.text or not answer.calls
    calls = [_call(each) for each in answer.calls]
    return [_message(asked, answer), *calls] if says else calls


def text_part(text: str) -> dict[str, Any]:
    """What a message has in it."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _message(asked: Asked, answer: Answer) -> dict[str, Any]:
    conversation = asked.conversation
    return {
        "id": make_message_id(conversation.key, conversation.turn, _digest(asked, answer)),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [text_part(answer.text)],
    }


def _call(call: BoundCall) -> dict[str, Any]:
    return {
        "id": make_function_id(call.call_id),
        "type": "function_call",
        "status": "completed",
        "call_id": call.call_id,
        "name": call.tool,
        "arguments": call.text,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt + usage.completion,
    }


def _digest(asked: Asked, answer: Answer) -> str:
    calls = [(each.call_id, each.tool, each.text) for each in answer.calls]
    return digest(asked.echo["digest"], answer.text, calls)
