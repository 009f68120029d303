"""Writes a Chat Completions response."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.openai_shapes import CREATED


def render(asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
    """The response's body."""
    body = {**head(asked, "chat.completion"), "choices": [_choice(answer)]}
    return {**body, "usage": usage_body(usage)} if usage else body


def head(asked: Asked, kind: str) -> dict[str, Any]:
    """What every part of a response begins with."""
    conversation = asked.conversation
    # Calls of one move that go out one at a time are responses of their own.
    place = f"{conversation.key}-{conversation.turn}-{conversation.made}"
    return {
        "id": f"chatcmpl-{place}",
        "object": kind,
        "created": CREATED,
        "model": conversation.model,
    }


def finish_reason(answer: Answer) -> str:
    """Why the model stopped."""
    return "tool_calls" if answer.calls else "stop"


def usage_body(usage: Usage) -> dict[str, Any]:
    """Sizes in tokens."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def tool_call(call: BoundCall, arguments: str) -> dict[str, Any]:
    """A call, with the part of its arguments that goes out."""
    function = {"name": call.tool, "arguments": arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _choice(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if answer.calls:
        message["content"] = answer.text or None
        message["tool_calls"] = [tool_call(call, call.text) for call in answer.calls]
    reason = finish_reason(answer)
    return {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
