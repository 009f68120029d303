"""Reads a Responses request."""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.models.conversation import Conversation, Message, read_conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import count_tokens
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.openai_shapes import MODEL, allowed, choice
from pytest_tripwire.models.wire.responses.echo import repeats
from pytest_tripwire.models.wire.responses.ids import digest
from pytest_tripwire.models.wire.responses.items import read_messages
from pytest_tripwire.models.wire.responses.reading import typed, wrong
from pytest_tripwire.models.wire.responses.transcripts import Transcript, Transcripts

_UNSERVED = {
    "background": "leave it out, and wait for the response",
    "conversation": "go on with `previous_response_id`, or send the history as `input`",
    "prompt": "send what it says as `instructions` and `input`",
}


class _Tool(msgspec.Struct):
    type: str
    name: str | None = None
    parameters: dict[str, Any] | None = None


class _Text(msgspec.Struct):
    format: dict[str, Any] | None = None


class _Request(msgspec.Struct):
    """What matters of a request, and what its response repeats."""

    input: str | list[dict[str, Any]] | None = None
    model: str = MODEL
    instructions: str | None = None
    previous_response_id: str | None = None
    tools: list[dict[str, Any]] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    text: _Text | None = None
    stream: bool | None = None
    store: bool | None = None
    background: bool | None = None
    conversation: str | dict[str, Any] | None = None
    prompt: dict[str, Any] | None = None
    max_output_tokens: int | None = None
    max_tool_calls: int | None = None
    metadata: dict[str, str] | None = None
    temperature: float | None = None
    top_p: float | None = None
    truncation: str | None = None

    def parameters(self) -> dict[str, dict[str, Any]]:
        """JSON schema of each tool's arguments that the model may call. Tools of the provider's
        own are nobody's to call here.
        """
        some = allowed(self.tool_choice)
        return {
            name: tool.parameters or {"type": "object"}
            for name, tool in self._functions().items()
            if some is None or name in some
        }

    def _functions(self) -> dict[str, _Tool]:
        functions = {}
        for index, given in enumerate(self.tools or []):
            tool = typed(given, _Tool, f"tools[{index}]")
            if tool.type == "function":
                if not tool.name:
                    # Chat Completions wraps the name, this protocol does not.
                    place = f"tools[{index}].name"
                    raise wrong("a function without a `name` beside its `type`", place)
                functions[tool.name] = tool
        return functions


def parse(body: dict[str, Any], transcripts: Transcripts) -> Asked:
    """Read a request. Raises `RequestError` where the provider would."""
    request = typed(body, _Request)
    _reject_unserved(request)
    before = Transcript()
    if request.previous_response_id is not None:
        before = transcripts.find(request.previous_response_id)
    elif not request.input and not isinstance(request.input, str):
        raise RequestError(400, "`input` is empty: send a text or an item", param="input")
    transcript = _told(request, before)
    conversation = _conversation(request, transcript)
    return Asked(
        conversation=conversation,
        stream=bool(request.stream),
        echo={
            "repeats": repeats(body),
            "transcript": transcript,
            "digest": _digest(request, conversation),
        },
    )


def _reject_unserved(request: _Request) -> None:
    for name, instead in _UNSERVED.items():
        if getattr(request, name) not in (None, False):
            raise RequestError(
                400,
                f"the scripted model does not take `{name}`: {instead}",
                param=name,
                code="unsupported_parameter",
            )


def _told(request: _Request, before: Transcript) -> Transcript:
    """What was said up to the request, and in it."""
    given = request.input or []
    return Transcript(
        messages=(*before.messages, *read_messages(given)),
        instructions=request.instructions or before.instructions,
        tokens=before.tokens + (count_tokens(msgspec.json.encode(given)) if given else 0),
    )


def _conversation(request: _Request, transcript: Transcript) -> Conversation:
    tools = request.parameters()
    system = Message(role="system", text=transcript.instructions)
    begin = (system,) if transcript.instructions else ()
    # What a provider bills for; the rest of the body differs between versions of an SDK.
    extra = msgspec.json.encode([request.instructions, request.tools])
    return msgspec.structs.replace(
        read_conversation([*begin, *transcript.messages], tools),
        choice=choice(request.tool_choice),
        one_call=request.parallel_tool_calls is False,
        tools=tools,
        schema=_schema(request.text),
        model=request.model,
        prompt_tokens=transcript.tokens + count_tokens(extra),
    )


def _schema(text: _Text | None) -> dict[str, Any] | None:
    form = (text.format if text else None) or {}
    if form.get("type") == "json_object":
        return {"type": "object"}
    if form.get("type") != "json_schema":
        return None
    schema = form.get("schema")
    return schema if isinstance(schema, dict) else {"type": "object"}


def _digest(request: _Request, conversation: Conversation) -> str:
    """Tells a request from others whose responses may be gone on from."""
    history = (request.previous_response_id, request.input)
    return digest(conversation.key, history, request.store is not False)
