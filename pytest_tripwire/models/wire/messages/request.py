"""Reads a Messages request."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Any, TypeVar

import msgspec

from pytest_tripwire.models.choice import AUTO
from pytest_tripwire.models.conversation import Message, read_conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import count_tokens
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.messages.blocks import Content, WireMessage, joined, words
from pytest_tripwire.models.wire.messages.threads import Thread, Threads
from pytest_tripwire.models.wire.messages.tools import Tool, ToolChoice, parameters
from pytest_tripwire.models.wire.openai_shapes import MODEL

T = TypeVar("T")


class _Threaded(msgspec.Struct):
    thread: Thread | None = None


class _OutputConfig(msgspec.Struct):
    format: dict[str, Any] | None = None


class _Request(msgspec.Struct):
    messages: list[WireMessage]
    model: str = MODEL
    max_tokens: Annotated[int, msgspec.Meta(ge=0)] | None = None
    system: Content | None = None
    tools: list[Tool] | None = None
    tool_choice: ToolChoice | None = None
    output_config: _OutputConfig | None = None
    #: Where the format stood before `output_config` took it in.
    output_format: dict[str, Any] | None = None
    stream: bool | None = None

    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer has to satisfy."""
        config = self.output_config or _OutputConfig()
        form = config.format or self.output_format or {}
        if form.get("type") != "json_schema":
            return None
        schema = form.get("schema")
        return schema if isinstance(schema, dict) else {"type": "object"}


def parse(body: dict[str, Any], threads: Threads) -> Asked:
    """Read a request. Raises `RequestError` where the provider would."""
    thread = _typed(body, _Threaded).thread
    body = threads.whole(thread, body)
    request = _typed(body, _Request)
    if not request.messages:
        raise RequestError(400, "`messages` is empty: send one message or more")
    told = {name: body.get(name) for name in ("system", "tools", "messages")}
    tools = parameters(request.tools or [])
    choice = request.tool_choice
    return Asked(
        conversation=msgspec.structs.replace(
            read_conversation(_neutral(request), tools),
            choice=choice.neutral() if choice else AUTO,
            one_call=bool(choice and choice.disable_parallel_tool_use),
            tools=tools,
            schema=request.schema(),
            model=request.model,
            # What a provider bills for; the rest of the body differs between versions of an SDK.
            prompt_tokens=count_tokens(msgspec.json.encode(told)),
        ),
        stream=bool(request.stream),
        echo={"told": told, "held": thread is not None},
        lacks="" if request.max_tokens is not None else "`max_tokens` is missing: set it",
    )


def _neutral(request: _Request) -> list[Message]:
    """All that is said, the system's words first."""
    system = request.system
    first = [] if system is None else [Message(role="system", text=words(system))]
    return [*first, *joined(chain.from_iterable(each.neutral() for each in request.messages))]


def _typed(body: dict[str, Any], kind: type[T]) -> T:
    try:
        return msgspec.convert(body, kind)
    except msgspec.ValidationError as error:
        raise RequestError(
            400,
            f"not a Messages request: {error}. Correct it in the request that the agent sends",
        ) from error
