"""The scripted model as a model of Pydantic AI's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic_ai import messages as parts
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.models import Model, StreamedResponse
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.usage import RequestUsage

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
from pytest_tripwire.models.wire.openai_shapes import CREATED, MODEL

#: What a model hears; the rest is the framework's own bookkeeping.
_HEARD = (
    parts.SystemPromptPart,
    parts.UserPromptPart,
    parts.ToolReturnPart,
    parts.RetryFeedbackPart,
)

_WHEN = datetime.fromtimestamp(CREATED, tz=UTC)


def model(exchange: Exchange) -> Any:
    """A model that an exchange answers."""
    return ScriptedModel(Direct(exchange, ChatCompletions(), _failed))


class ScriptedModel(Model):
    """What an `Agent` of Pydantic AI's is given."""

    model_name = MODEL
    system = "tripwire"

    def __init__(self, direct: Direct) -> None:
        profile = ModelProfile(supports_json_schema_output=True, supports_json_object_output=True)
        super().__init__(profile=profile)
        self._direct = direct

    async def request(self, messages: Any, model_settings: Any, parameters: Any) -> Any:
        """The whole answer."""
        settings, parameters = self.prepare_request(model_settings, parameters)
        reply = await self._direct.aask(_body(messages, settings or {}, parameters))
        words = [parts.TextPart(content=reply.answer.text)] if reply.answer.text else []
        calls = [
            parts.ToolCallPart(tool_name=each.tool, args=each.text, tool_call_id=each.call_id)
            for each in reply.answer.calls
        ]
        return parts.ModelResponse(
            parts=[*words, *calls], usage=_usage(reply), model_name=MODEL, timestamp=_WHEN
        )

    @asynccontextmanager
    async def request_stream(
        self, messages: Any, model_settings: Any, parameters: Any, run_context: Any = None
    ) -> AsyncIterator[Any]:
        """The answer in pieces."""
        settings, parameters = self.prepare_request(model_settings, parameters)
        body = _body(messages, settings or {}, parameters)
        reply = await self._direct.aask(body, stream=True)
        yield ScriptedStream(model_request_parameters=parameters, reply=reply)


@dataclass
class ScriptedStream(StreamedResponse):
    """One answer in pieces."""

    reply: Reply

    model_name = MODEL
    provider_name = None
    provider_url = None
    timestamp = _WHEN

    async def _get_event_iterator(self) -> AsyncIterator[Any]:
        for event in self.reply.events():
            for choice in event["choices"]:
                for each in self._pieces(choice["delta"]):
                    yield each
        self._usage = _usage(self.reply)

    def _pieces(self, delta: Mapping[str, Any]) -> Iterator[Any]:
        manager = self._parts_manager
        if delta.get("content"):
            yield from manager.handle_text_delta(vendor_part_id="text", content=delta["content"])
        for each in delta.get("tool_calls", []):
            yield from manager.handle_tool_call_delta_events(
                vendor_part_id=each["index"],
                tool_name=each["function"].get("name"),
                args=each["function"]["arguments"],
                tool_call_id=each.get("id"),
            )

    async def close_stream(self) -> None:
        """There is no connection to close."""


def _body(messages: Any, settings: Mapping[str, Any], parameters: Any) -> dict[str, Any]:
    """The request in the form of Chat Completions."""
    tools = [*parameters.declared_function_tools, *parameters.output_tools]
    spoken = [each for message in messages for each in _spoken(message)]
    body = {
        "messages": [*_instructions(messages, parameters), *spoken],
        "tools": [function(t.name, t.description, t.parameters_json_schema) for t in tools],
        "tool_choice": _choice(settings, parameters) if tools else None,
        "parallel_tool_calls": settings.get("parallel_tool_calls"),
        "response_format": _format(parameters),
    }
    return without_blanks(body)


def _instructions(messages: Any, parameters: Any) -> list[dict[str, Any]]:
    given = [each.content for each in parameters.instruction_parts or ()]
    earlier = [m.instructions for m in reversed(messages) if getattr(m, "instructions", None)]
    if parameters.instruction_parts is None:
        given = earlier[:1]
    return [{"role": "system", "content": "\n\n".join(given)}] if given else []


def _spoken(message: Any) -> Iterator[dict[str, Any]]:
    if isinstance(message, parts.ModelResponse):
        text = "".join(each.content for each in message.parts if isinstance(each, parts.TextPart))
        calls = [
            call(each.tool_call_id, each.tool_name, each.args_as_json_str())
            for each in message.parts
            if isinstance(each, parts.ToolCallPart)
        ]
        yield without_blanks({"role": "assistant", "content": text, "tool_calls": calls})
        return
    for each in message.parts:
        if isinstance(each, _HEARD):
            yield _heard(each)


def _heard(part: Any) -> dict[str, Any]:
    if isinstance(part, parts.ToolReturnPart):
        text = part.model_response_str()
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": text}
    if isinstance(part, parts.SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, parts.UserPromptPart):
        return {"role": "user", "content": _text(part.content)}
    # The framework asks for another try of the answer.
    return {"role": "user", "content": part.model_response()}


def _text(content: str | Iterable[Any]) -> str:
    if isinstance(content, str):
        return content
    texts = (each if isinstance(each, str) else getattr(each, "content", "") for each in content)
    return "".join(each for each in texts if isinstance(each, str))


def _choice(settings: Mapping[str, Any], parameters: Any) -> Any:
    """What the model may call. Tools that take the final answer are not the user's to forbid."""
    wanted: Any = settings.get("tool_choice")
    if wanted is None or wanted == []:
        wanted = "auto" if wanted is None else "none"
    mode = "auto" if parameters.allow_text_output else "required"
    outputs = [each.name for each in parameters.output_tools]
    if wanted == "auto":
        return mode
    if wanted == "required":
        return wanted
    if wanted == "none":
        return _among(mode, outputs) if outputs else "none"
    if isinstance(wanted, list):
        return _among("required", wanted)
    return _among(mode, [*wanted.function_tools, *outputs])


def _among(mode: str, names: list[str]) -> dict[str, Any]:
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    if mode == "required" and len(tools) == 1:
        return tools[0]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


def _format(parameters: Any) -> dict[str, Any] | None:
    if parameters.output_object is None or parameters.output_mode not in ("native", "prompted"):
        return None
    return {
        "type": "json_schema",
        "json_schema": {"schema": parameters.output_object.json_schema},
    }


def _usage(reply: Reply) -> Any:
    if reply.usage is None:
        return RequestUsage(unmeasured_requests=1)
    return RequestUsage(input_tokens=reply.usage.prompt, output_tokens=reply.usage.completion)


def _failed(error: RequestError | LostConnectionError) -> Any:
    if isinstance(error, LostConnectionError):
        return ModelConnectionError(MODEL, str(error))
    return ModelHTTPError(
        error.status,
        MODEL,
        {"message": error.message, "code": error.code, "param": error.param},
        headers=error.headers,
    )
