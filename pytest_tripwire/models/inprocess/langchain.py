"""The scripted model as a chat model of LangChain's, sync, async and streaming."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from http import HTTPStatus
from typing import Any

from langchain_core import exceptions
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, convert_to_openai_messages
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from pytest_tripwire.models.answer import BoundCall
from pytest_tripwire.models.exchange import Exchange
from pytest_tripwire.models.inprocess.direct import (
    Direct,
    LostConnectionError,
    Reply,
    call,
    without_blanks,
)
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.wire.chat import ChatCompletions
from pytest_tripwire.models.wire.openai_shapes import MODEL

#: What of a call's keyword arguments belongs to the request.
_SETTINGS = ("tools", "tool_choice", "parallel_tool_calls", "response_format")

_WORDS = {"any": "required", True: "required", False: None}
_ERRORS: dict[int, Any] = {
    HTTPStatus.UNAUTHORIZED: exceptions.ModelAuthenticationError,
    HTTPStatus.FORBIDDEN: exceptions.ModelPermissionDeniedError,
    HTTPStatus.NOT_FOUND: exceptions.ModelNotFoundError,
    HTTPStatus.TOO_MANY_REQUESTS: exceptions.ModelRateLimitError,
}


def model(exchange: Exchange) -> Any:
    """A model that an exchange answers."""
    return ScriptedChatModel(direct=Direct(exchange, ChatCompletions(), _failed))


class ScriptedChatModel(BaseChatModel):
    """What an agent of LangChain's or LangGraph's is given in place of `ChatOpenAI`."""

    model_name: str = MODEL
    direct: Any = Field(exclude=True, repr=False)

    @property
    def _llm_type(self) -> str:
        return MODEL

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: Any = None,
        parallel_tool_calls: bool | None = None,
        strict: bool | None = None,
        **settings: Any,
    ) -> Any:
        """The model with tools; takes what `ChatOpenAI` takes."""
        shapes = [convert_to_openai_tool(each, strict=strict) for each in tools]
        names = [each["function"]["name"] for each in shapes]
        if tool_choice in names:
            tool_choice = {"type": "function", "function": {"name": tool_choice}}
        elif isinstance(tool_choice, str | bool):
            tool_choice = _WORDS.get(tool_choice, tool_choice)
        body = {"tool_choice": tool_choice, "parallel_tool_calls": parallel_tool_calls}
        return self.bind(tools=shapes, **without_blanks(body), **settings)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kw: Any) -> Any:
        return _result(self.direct.ask(_body(messages, kw)))

    async def _agenerate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kw: Any
    ) -> Any:
        return _result(await self.direct.aask(_body(messages, kw)))

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kw: Any
    ) -> Iterator[Any]:
        yield from _chunks(self.direct.ask(_body(messages, kw), stream=True))

    async def _astream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kw: Any
    ) -> AsyncIterator[Any]:
        for chunk in _chunks(await self.direct.aask(_body(messages, kw), stream=True)):
            yield chunk


def _body(messages: Any, kw: dict[str, Any]) -> dict[str, Any]:
    settings = {name: kw[name] for name in _SETTINGS if name in kw}
    shapes = [each for message in messages for each in _said(message)]
    return without_blanks({"messages": shapes, **settings})


def _said(message: Any) -> list[dict[str, Any]]:
    shapes: list[dict[str, Any]] = convert_to_openai_messages([message])
    broken = getattr(message, "invalid_tool_calls", [])
    if broken:
        # Left out by the conversion, though an agent may well answer them.
        calls = [call(each["id"], each["name"], each["args"]) for each in broken]
        shapes[-1]["tool_calls"] = [*shapes[-1].get("tool_calls", []), *calls]
    return shapes


def _result(reply: Reply) -> Any:
    answer = reply.answer
    message = AIMessage(
        content=answer.text,
        tool_calls=[_call(each) for each in answer.calls if not each.spoilt],
        invalid_tool_calls=[_call(each) for each in answer.calls if each.spoilt],
        usage_metadata=_usage(reply),
        response_metadata=_metadata(reply),
    )
    return ChatResult(generations=[ChatGeneration(message=message)])


def _call(each: BoundCall) -> Any:
    if not each.spoilt:
        return tool_call(name=each.tool, args=dict(each.arguments), id=each.call_id)
    return invalid_tool_call(name=each.tool, args=each.spoilt, id=each.call_id, error=None)


def _chunks(reply: Reply) -> Iterator[Any]:
    for event in reply.events():
        for choice in event["choices"]:
            delta, told = choice["delta"], choice["finish_reason"]
            yield _chunk(
                content=delta.get("content") or "",
                tool_call_chunks=[_part(each) for each in delta.get("tool_calls", [])],
                response_metadata=_metadata(reply) if told else {},
            )
        if event.get("usage"):
            yield _chunk(content="", usage_metadata=_usage(reply))


def _chunk(**fields: Any) -> Any:
    return ChatGenerationChunk(message=AIMessageChunk(**fields))


def _part(each: dict[str, Any]) -> Any:
    inner = each["function"]
    return tool_call_chunk(
        name=inner.get("name"), args=inner["arguments"], id=each.get("id"), index=each["index"]
    )


def _usage(reply: Reply) -> Any:
    if reply.usage is None:
        return None
    prompt, completion = reply.usage.prompt, reply.usage.completion
    total = prompt + completion
    return {"input_tokens": prompt, "output_tokens": completion, "total_tokens": total}


def _metadata(reply: Reply) -> dict[str, Any]:
    return {"model_name": MODEL, "finish_reason": "tool_calls" if reply.answer.calls else "stop"}


def _failed(error: RequestError | LostConnectionError) -> Any:
    if isinstance(error, LostConnectionError):
        return exceptions.ModelConnectionError(str(error))
    ours = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    default = exceptions.ModelAPIError if ours else exceptions.ModelInvalidRequestError
    return _ERRORS.get(error.status, default)(f"{error.status}: {error.message}")
