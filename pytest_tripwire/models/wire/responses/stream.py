"""Writes a Responses response in pieces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.responses.response import begun, output, render, text_part
from pytest_tripwire.models.wire.sse import Event, event, pieces


def events(asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
    """The response's events. The last one has all of it."""
    for number, body in enumerate(_bodies(asked, answer, usage)):
        yield event({**body, "sequence_number": number}, body["type"])


def _bodies(asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[dict[str, Any]]:
    begin = begun(asked, answer)
    yield {"type": "response.created", "response": begin}
    yield {"type": "response.in_progress", "response": begin}
    for index, item in enumerate(output(asked, answer)):
        parts = _message if item["type"] == "message" else _call
        place = {"output_index": index}
        yield {"type": "response.output_item.added", "item": _empty(item), **place}
        for part in parts(item):
            yield {**part, "item_id": item["id"], **place}
        yield {"type": "response.output_item.done", "item": item, **place}
    yield {"type": "response.completed", "response": render(asked, answer, usage)}


def _empty(item: dict[str, Any]) -> dict[str, Any]:
    bare = {**item, "status": "in_progress"}
    return {**bare, "content": []} if item["type"] == "message" else {**bare, "arguments": ""}


def _message(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (part,) = item["content"]
    first = {"content_index": 0}
    yield {"type": "response.content_part.added", "part": text_part(""), **first}
    for piece in pieces(part["text"]):
        yield {"type": "response.output_text.delta", "delta": piece, "logprobs": [], **first}
    text = part["text"]
    yield {"type": "response.output_text.done", "text": text, "logprobs": [], **first}
    yield {"type": "response.content_part.done", "part": part, **first}


def _call(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind = "response.function_call_arguments"
    for piece in pieces(item["arguments"]):
        yield {"type": f"{kind}.delta", "delta": piece}
    yield {"type": f"{kind}.done", "name": item["name"], "arguments": item["arguments"]}
