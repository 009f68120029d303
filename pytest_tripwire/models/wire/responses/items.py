"""Reads the items of a request's input into messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from pytest_tripwire.models.conversation import Message
from pytest_tripwire.models.wire.responses.ids import read_turn, referred_call
from pytest_tripwire.models.wire.responses.reading import typed, wrong


class _Part(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Said(msgspec.Struct):
    """A message: what anybody says."""

    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[_Part]
    id: str | None = None

    @property
    def turn(self) -> int | None:
        return read_turn(self.id or "") if self.role == "assistant" else None

    def neutral(self) -> Message:
        role = "system" if self.role == "developer" else self.role
        return Message(role=role, text=_text(self.content))


class _Call(msgspec.Struct):
    """A call of a function."""

    call_id: str
    name: str
    arguments: str

    @property
    def turn(self) -> int | None:
        return read_turn("", self.call_id)

    def neutral(self) -> Message:
        return _assistant(self.call_id)


class _Result(msgspec.Struct):
    """What a function came back with."""

    call_id: str
    output: str | list[_Part]

    turn = None

    def neutral(self) -> Message:
        return _result(self.call_id, _text(self.output))


class _Step(msgspec.Struct):
    """Anything else that a model's turn is made of."""

    id: str | None = None
    call_id: str | None = None

    @property
    def turn(self) -> int | None:
        return read_turn(self.id or "", self.call_id or "")

    def neutral(self) -> Message:
        # Who refers to an item does not send its call id, but ours is in the item's.
        return _assistant(self.call_id or referred_call(self.id or ""))


class _Outcome(msgspec.Struct):
    """What a tool that is no function came back with."""

    call_id: str | None = None
    output: Any = None

    turn = None

    def neutral(self) -> Message:
        text = self.output if isinstance(self.output, str) else ""
        return _result(self.call_id or "", text)


class _Aside(msgspec.Struct):
    """What is said to the provider, and is no part of the conversation."""


_Item: TypeAlias = _Said | _Call | _Result | _Step | _Outcome

_STEPS = (
    *("apply_patch_call", "code_interpreter_call", "computer_call", "custom_tool_call"),
    *("file_search_call", "image_generation_call", "local_shell_call", "mcp_call", "shell_call"),
    *("tool_search_call", "web_search_call", "mcp_approval_request", "mcp_list_tools"),
    *("compaction", "item_reference", "program", "reasoning"),
)
_OUTCOMES = (
    *("apply_patch_call_output", "computer_call_output", "custom_tool_call_output"),
    *("local_shell_call_output", "shell_call_output", "program_output", "tool_search_output"),
)
_ASIDES = ("additional_tools", "compaction_trigger", "mcp_approval_response")

_SHAPES: dict[str, type[_Item | _Aside]] = {
    "message": _Said,
    "function_call": _Call,
    "function_call_output": _Result,
    **dict.fromkeys(_STEPS, _Step),
    **dict.fromkeys(_OUTCOMES, _Outcome),
    **dict.fromkeys(_ASIDES, _Aside),
}


def read_messages(given: str | Sequence[dict[str, Any]]) -> tuple[Message, ...]:
    """A request's input as messages; the items of one turn of the model are one message.

    Raises `RequestError` for an item that the provider would refuse.
    """
    if isinstance(given, str):
        return (Message(role="user", text=given),)
    return tuple(_joined(_read(given)))


def _read(items: Sequence[dict[str, Any]]) -> Iterator[_Item]:
    for index, item in enumerate(items):
        place = f"input[{index}]"
        shape = _SHAPES.get(_type(item, place))
        if shape is None:
            raise wrong(f"there is no item of type {item['type']!r}", f"{place}.type")
        read = typed(item, shape, place)
        if not isinstance(read, _Aside):
            yield read


def _type(item: dict[str, Any], place: str) -> str:
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    if kind is None and ("role" in item or "id" in item):
        return "message" if "role" in item else "item_reference"
    raise wrong("an item says neither its `type` nor its `role`", f"{place}.type")


def _joined(items: Iterator[_Item]) -> Iterator[Message]:
    """One message for each turn of the model. Where ids tell two turns apart, two that follow
    each other stay two.
    """
    held: Message | None = None
    turn: int | None = None
    for item in items:
        message = item.neutral()
        same = turn is None or item.turn is None or item.turn == turn
        if held and held.role == message.role == "assistant" and same:
            held = _both(held, message)
            turn = item.turn if turn is None else turn
            continue
        if held:
            yield held
        held, turn = message, item.turn
    if held:
        yield held


def _both(first: Message, second: Message) -> Message:
    ids = (*first.call_ids, *second.call_ids)
    return Message(role="assistant", text=first.text + second.text, call_ids=ids)


def _assistant(call_id: str) -> Message:
    return Message(role="assistant", call_ids=(call_id,) if call_id else ())


def _result(call_id: str, text: str) -> Message:
    return Message(role="tool", text=text, call_ids=(call_id,) if call_id else ())


def _text(content: str | list[_Part]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part.text or part.refusal or "" for part in content)
