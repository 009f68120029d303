"""Writes a Messages response in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.messages.response import head, stop_reason, tool_use, usage_body
from pytest_tripwire.models.wire.sse import Event, event, pieces


def events(asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
    """The response's events, each named after its type."""
    for body in _bodies(asked, answer, usage):
        yield event(body, body["type"])


def _bodies(asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[dict[str, Any]]:
    # Only the first token is there yet.
    begun = msgspec.structs.replace(usage, completion=1) if usage else None
    yield {"type": "message_start", "message": {**head(asked, answer), "usage": usage_body(begun)}}
    yield {"type": "ping"}
    index = 0
    if answer.text:
        deltas = ({"type": "text_delta", "text": each} for each in pieces(answer.text))
        yield from _block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for place, call in enumerate(answer.calls, index):
        # The provider, too, begins with an empty piece.
        parts = ["", *pieces(call.text)]
        inputs = ({"type": "input_json_delta", "partial_json": each} for each in parts)
        yield from _block(place, tool_use(call, {}), inputs)
    ended = {"stop_reason": stop_reason(answer), "stop_sequence": None}
    # With the prompt's tokens once more: some frameworks read them here alone.
    yield {"type": "message_delta", "delta": ended, "usage": usage_body(usage)}
    yield {"type": "message_stop"}


def _block(
    index: int, begin: dict[str, Any], deltas: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    yield {"type": "content_block_start", "index": index, "content_block": begin}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}
