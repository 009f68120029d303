"""Reads the messages of a request, whose contents are blocks, into neutral ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec

from pytest_tripwire.models.conversation import Message
from pytest_tripwire.models.request_error import RequestError


class Block(msgspec.Struct):
    """A block of a content, as far as the scripted model takes notice of it: images, documents,
    thoughts and the provider's own tools say nothing to it.
    """

    type: str
    text: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    content: Any = None


Content: TypeAlias = str | list[Block]


class WireMessage(msgspec.Struct):
    """A message as a request shows it. A system may speak between the others, too."""

    role: Literal["user", "assistant", "system"]
    content: Content

    def neutral(self) -> list[Message]:
        """The same as neutral messages: each tool result becomes one of its own.

        Raises:
            RequestError: a result does not say which call it answers, or what.
        """
        text = words(self.content)
        blocks = [] if isinstance(self.content, str) else self.content
        if self.role == "assistant":
            calls = (each.id for each in blocks if each.type == "tool_use")
            return [Message(role="assistant", text=text, call_ids=tuple(filter(None, calls)))]
        results = [_result(each) for each in blocks if each.type == "tool_result"]
        if results and not text:
            return results
        return [*results, Message(role=self.role, text=text)]


def words(content: Content) -> str:
    """All that a content says in text."""
    if isinstance(content, str):
        return content
    return "".join(each.text or "" for each in content if each.type == "text")


def joined(messages: Iterable[Message]) -> list[Message]:
    """The messages, with those of the assistant's that follow each other put together: to the
    provider they are one turn, and some frameworks write one answer as several.
    """
    whole: list[Message] = []
    for message in messages:
        before = whole[-1] if whole else None
        if before and before.role == message.role == "assistant":
            whole[-1] = Message(
                role="assistant",
                text=before.text + message.text,
                call_ids=before.call_ids + message.call_ids,
            )
        else:
            whole.append(message)
    return whole


def _result(block: Block) -> Message:
    if not block.tool_use_id:
        raise RequestError(
            400, "a tool_result has no `tool_use_id`: give it the `id` of the tool_use it answers"
        )
    try:
        content = msgspec.convert(block.content, Content | None)
    except msgspec.ValidationError as error:
        raise RequestError(
            400, f"the content of a tool_result is none: {error}. Send a text or blocks"
        ) from error
    return Message(role="tool", text=words(content or ""), call_ids=(block.tool_use_id,))
