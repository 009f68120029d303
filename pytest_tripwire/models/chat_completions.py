"""OpenAI's Chat Completions protocol, without streaming."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.models import chat_request
from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.openai_shapes import CREATED, error_body
from pytest_tripwire.models.request_error import RequestError


class ChatCompletions:
    """The dialect of `POST /v1/chat/completions`."""

    provider = "openai"
    base_path = "/v1"
    path = "/v1/chat/completions"

    def parse(self, body: dict[str, Any]) -> Conversation:
        """Read a request. Raises `RequestError` for one that the provider would refuse."""
        return chat_request.parse(body)

    def render(self, conversation: Conversation, answer: Answer, tokens: int) -> dict[str, Any]:
        """The response body; `tokens` is the size of the completion in tokens."""
        return {
            "id": f"chatcmpl-{conversation.key}-{conversation.turn}",
            "object": "chat.completion",
            "created": CREATED,
            "model": conversation.model,
            "choices": [_choice(answer)],
            "usage": _usage(conversation.prompt_tokens, tokens),
        }

    def error(self, error: RequestError) -> dict[str, Any]:
        """The body of an error response."""
        return error_body(error)


def _choice(answer: Answer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if answer.calls:
        message["content"] = answer.text or None
        message["tool_calls"] = [_tool_call(call) for call in answer.calls]
    reason = "tool_calls" if answer.calls else "stop"
    return {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}


def _tool_call(call: BoundCall) -> dict[str, Any]:
    arguments = msgspec.json.encode(call.arguments).decode()
    function = {"name": call.tool, "arguments": arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def _usage(prompt: int, completion: int) -> dict[str, Any]:
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }
