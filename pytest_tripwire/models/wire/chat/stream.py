"""Writes a Chat Completions response in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.chat.response import (
    finish_reason,
    head,
    tool_call,
    usage_body,
)
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.sse import Event, event, pieces


def events(asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
    """The response's events. The last but one tells the usage, where the request asks for it."""
    begin = head(asked, "chat.completion.chunk")
    # The provider gives every chunk an empty usage where the last one has it.
    told = {"usage": None} if asked.usage_in_stream and usage else {}
    for delta in _deltas(answer):
        yield event({**begin, "choices": [_choice(delta, None)], **told})
    yield event({**begin, "choices": [_choice({}, finish_reason(answer))], **told})
    if asked.usage_in_stream and usage:
        yield event({**begin, "choices": [], "usage": usage_body(usage)})
    yield Event(data="[DONE]")


def _choice(delta: dict[str, Any], reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}


def _deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    content = None if answer.calls and not answer.text else ""
    yield {"role": "assistant", "content": content, "refusal": None}
    for piece in pieces(answer.text):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        yield {"tool_calls": [{"index": index, **tool_call(call, "")}]}
        for piece in pieces(call.text):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
