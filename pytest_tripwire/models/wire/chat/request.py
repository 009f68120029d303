"""Reads a Chat Completions request."""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from pytest_tripwire.models.conversation import Message, read_conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import count_tokens
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.openai_shapes import MODEL, allowed, choice

_PLACE = re.compile(r"`\$\.?(.*)`$")


class _Part(msgspec.Struct):
    type: str = "text"
    text: str | None = None


class _Call(msgspec.Struct):
    id: str | None = None


class _Message(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[_Part] | None = None
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = None

    def neutral(self) -> Message:
        ids = [call.id for call in self.tool_calls or []]
        if self.role in ("tool", "function"):
            ids = [self.tool_call_id]
        return Message(
            role=_role(self.role),
            text=_text(self.content),
            call_ids=tuple(call_id for call_id in ids if call_id),
        )


class _Function(msgspec.Struct):
    name: str
    parameters: dict[str, Any] | None = None


class _Tool(msgspec.Struct):
    function: _Function | None = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool | None = None


class _Request(msgspec.Struct):
    messages: list[_Message]
    model: str = MODEL
    tools: list[_Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None

    def parameters(self) -> dict[str, dict[str, Any]]:
        """JSON schema of each tool's arguments that the model may call."""
        some = allowed(self.tool_choice)
        functions = [tool.function for tool in self.tools or [] if tool.function]
        kept = [each for each in functions if some is None or each.name in some]
        return {each.name: each.parameters or {"type": "object"} for each in kept}


def parse(body: dict[str, Any]) -> Asked:
    """Read a request. Raises `RequestError` where the provider would."""
    _reject_unserved(body)
    request = _typed(body)
    if not request.messages:
        raise RequestError(400, "`messages` is empty: send one message or more", param="messages")
    tools = request.parameters()
    conversation = read_conversation([message.neutral() for message in request.messages], tools)
    options = request.stream_options or _StreamOptions()
    return Asked(
        conversation=msgspec.structs.replace(
            conversation,
            choice=choice(request.tool_choice),
            one_call=request.parallel_tool_calls is False,
            tools=tools,
            schema=_schema(request.response_format),
            model=request.model,
            prompt_tokens=_prompt_tokens(body),
        ),
        stream=bool(request.stream),
        usage_in_stream=bool(options.include_usage),
    )


def _reject_unserved(body: dict[str, Any]) -> None:
    if body.get("stream_options") and not body.get("stream"):
        raise RequestError(
            400,
            "`stream_options` is for streams: leave it out, or set `stream` to true",
            param="stream_options",
        )
    if body.get("functions"):
        raise RequestError(
            400,
            "the scripted model does not take `functions`: offer them as `tools`",
            param="functions",
            code="unsupported_parameter",
        )


def _typed(body: dict[str, Any]) -> _Request:
    try:
        return msgspec.convert(body, _Request)
    except msgspec.ValidationError as error:
        raise RequestError(
            400,
            f"not a Chat Completions request: {error}. Correct it in the request that the "
            "agent sends",
            param=_param(str(error)),
        ) from error


def _param(message: str) -> str | None:
    if "missing required field `messages`" in message and "$" not in message:
        return "messages"
    place = _PLACE.search(message)
    return place[1] if place else None


def _role(role: str) -> Literal["system", "user", "assistant", "tool"]:
    match role:
        case "system" | "developer":
            return "system"
        case "assistant":
            return "assistant"
        case "tool" | "function":
            return "tool"
        case _:
            return "user"


def _text(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content)
    return content or ""


def _schema(response_format: dict[str, Any] | None) -> dict[str, Any] | None:
    form = response_format or {}
    if form.get("type") == "json_object":
        return {"type": "object"}
    if form.get("type") != "json_schema":
        return None
    wrapper = form.get("json_schema")
    schema = wrapper.get("schema") if isinstance(wrapper, dict) else None
    return schema if isinstance(schema, dict) else {"type": "object"}


def _prompt_tokens(body: dict[str, Any]) -> int:
    # What a provider bills for; the rest of the body differs between versions of an SDK.
    return count_tokens(msgspec.json.encode([body["messages"], body.get("tools")]))
