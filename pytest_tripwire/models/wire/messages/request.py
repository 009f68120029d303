"""Reads a Messages request."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Any

import msgspec

from pytest_tripwire.models.choice import AUTO
from pytest_tripwire.models.conversation import Message, read_conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import count_tokens
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.messages.blocks import Content, WireMessage, joined, words
from pytest_tripwire.models.wire.messages.tools import Tool, ToolChoice, parameters
from pytest_tripwire.models.wire.openai_shapes import MODEL


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

    def neutral(self) -> list[Message]:
        """All that is said, the system's words first."""
        system = [] if self.system is None else [Message(role="system", text=words(self.system))]
        return [*system, *joined(chain.from_iterable(each.neutral() for each in self.messages))]

    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the answer has to satisfy."""
        config = self.output_config or _OutputConfig()
        form = config.format or self.output_format or {}
        if form.get("type") != "json_schema":
            return None
        schema = form.get("schema")
        return schema if isinstance(schema, dict) else {"type": "object"}


def parse(body: dict[str, Any]) -> Asked:
    """Read a request. Raises `RequestError` where the provider would."""
    request, messages = _typed(body)
    if not request.messages:
        raise RequestError(400, "`messages` is empty: send one message or more")
    tools = parameters(request.tools or [])
    choice = request.tool_choice
    return Asked(
        conversation=msgspec.structs.replace(
            read_conversation(messages, tools),
            choice=choice.neutral() if choice else AUTO,
            one_call=bool(choice and choice.disable_parallel_tool_use),
            tools=tools,
            schema=request.schema(),
            model=request.model,
            prompt_tokens=_prompt_tokens(body),
        ),
        stream=bool(request.stream),
        lacks="" if request.max_tokens is not None else "`max_tokens` is missing: set it",
    )


def _typed(body: dict[str, Any]) -> tuple[_Request, list[Message]]:
    try:
        request = msgspec.convert(body, _Request)
        return request, request.neutral()
    except msgspec.ValidationError as error:
        raise RequestError(
            400,
            f"not a Messages request: {error}. Correct it in the request that the agent sends",
        ) from error


def _prompt_tokens(body: dict[str, Any]) -> int:
    # What a provider bills for; the rest of the body differs between versions of an SDK.
    billed = [body.get("system"), body["messages"], body.get("tools")]
    return count_tokens(msgspec.json.encode(billed))
