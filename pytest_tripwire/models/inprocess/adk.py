"""The scripted model as a model of the Agent Development Kit's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any

import msgspec
from google.adk.models import BaseLlm, LlmCapabilities, LlmResponse
from google.genai import errors, types
from pydantic import Field, TypeAdapter

from pytest_tripwire.models.exchange import Exchange
from pytest_tripwire.models.inprocess.direct import (
    Direct,
    LostConnectionError,
    Reply,
    call,
    function,
    without_blanks,
)
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.wire.chat import ChatCompletions
from pytest_tripwire.models.wire.openai_shapes import MODEL

_MODES = {"ANY": "required", "NONE": "none"}


def model(exchange: Exchange) -> Any:
    """A model that an exchange answers."""
    return ScriptedLlm(model=MODEL, direct=Direct(exchange, ChatCompletions(), _failed))


class ScriptedLlm(BaseLlm):
    """What an `LlmAgent` is given."""

    direct: Any = Field(exclude=True, repr=False)

    @property
    def capabilities(self) -> Any:
        """That it answers in a schema though it has tools; else a tool would take the answer."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[Any]:
        """The answer; before it its words in pieces, where a stream is asked for."""
        reply = await self.direct.aask(_body(llm_request), stream=stream)
        for piece in _pieces(reply) if stream else ():
            yield piece
        yield _whole(reply)


def _body(request: Any) -> dict[str, Any]:
    """The request in the form of Chat Completions."""
    config = request.config
    system = _words(config.system_instruction)
    tools = [
        function(each.name, each.description, _schema(each.parameters_json_schema, each.parameters))
        for tool in config.tools or []
        for each in getattr(tool, "function_declarations", None) or []
    ]
    spoken = [each for content in request.contents for each in _spoken(content)]
    body = {
        "messages": [*([{"role": "system", "content": system}] if system else []), *spoken],
        "tools": tools,
        "tool_choice": _choice(config),
        "response_format": _format(config),
    }
    return without_blanks(body)


def _schema(plain: Any, typed: Any) -> Any:
    """A tool's arguments as JSON schema; Google's own kind names types in capitals."""
    if plain is not None or typed is None:
        return plain if isinstance(plain, dict) else {"type": "object", "properties": {}}
    return typed.json_schema.model_dump(mode="json", by_alias=True, exclude_none=True)


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_words(each) for each in content)
    if content is None:
        return ""
    found = getattr(content, "parts", None) or [content]
    return "".join(each.text for each in found if getattr(each, "text", None))


def _spoken(content: Any) -> Iterator[dict[str, Any]]:
    for each in content.parts or []:
        if each.function_response:
            answered = each.function_response
            text = msgspec.json.encode(answered.response).decode()
            yield {"role": "tool", "tool_call_id": answered.id or "", "content": text}
    calls = [
        call(made.id or "", made.name, msgspec.json.encode(made.args or {}).decode())
        for each in content.parts or []
        if (made := each.function_call)
    ]
    text = _words(content)
    if text or calls:
        role = "assistant" if content.role == "model" else "user"
        yield without_blanks({"role": role, "content": text, "tool_calls": calls})


def _choice(config: Any) -> Any:
    calling = config.tool_config and config.tool_config.function_calling_config
    if not calling or not calling.mode:
        return None
    mode = _MODES.get(calling.mode.value, "auto")
    names = calling.allowed_function_names or []
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    if mode == "required" and len(tools) == 1:
        return tools[0]
    if tools:
        return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}
    return mode


def _format(config: Any) -> dict[str, Any] | None:
    schema = config.response_json_schema or config.response_schema
    if isinstance(schema, types.Schema):
        schema = _schema(None, schema)
    elif schema is not None and not isinstance(schema, dict):
        schema = TypeAdapter(schema).json_schema()
    if schema is None:
        return {"type": "json_object"} if config.response_mime_type == "application/json" else None
    return {"type": "json_schema", "json_schema": {"schema": schema}}


def _pieces(reply: Reply) -> Iterator[Any]:
    for event in reply.events():
        for choice in event["choices"]:
            if text := choice["delta"].get("content"):
                yield LlmResponse(content=_model([types.Part(text=text)]), partial=True)


def _whole(reply: Reply) -> Any:
    text = [types.Part(text=reply.answer.text)] if reply.answer.text else []
    calls = [
        types.Part(
            function_call=types.FunctionCall(
                id=each.call_id, name=each.tool, args=dict(each.arguments)
            )
        )
        for each in reply.answer.calls
    ]
    reason = types.FinishReason.STOP
    if any(each.spoilt for each in reply.answer.calls):
        # Arguments are no text here. A provider that gets none it can read says so.
        reason, calls = types.FinishReason.MALFORMED_FUNCTION_CALL, []
    return LlmResponse(
        content=_model([*text, *calls]),
        partial=False,
        finish_reason=reason,
        error_code=None if reason is types.FinishReason.STOP else reason.value,
        usage_metadata=_usage(reply),
        model_version=MODEL,
    )


def _model(found: list[Any]) -> Any:
    return types.Content(role="model", parts=found)


def _usage(reply: Reply) -> Any:
    if reply.usage is None:
        return None
    prompt, completion = reply.usage.prompt, reply.usage.completion
    return types.GenerateContentResponseUsageMetadata(
        prompt_token_count=prompt,
        candidates_token_count=completion,
        total_token_count=prompt + completion,
    )


def _failed(error: RequestError | LostConnectionError) -> Any:
    if isinstance(error, LostConnectionError):
        return ConnectionError(str(error))
    ours = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    told = {"code": error.status, "message": error.message, "status": error.code}
    kind = errors.ServerError if ours else errors.ClientError
    return kind(error.status, {"error": told})
