"""The scripted model as a model of the OpenAI Agents SDK. Its items are those of Responses, and so
that protocol does all of the reading and writing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Any

import httpx2
import openai
from agents import ModelResponse, Usage
from agents.models.interface import Model
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from pytest_tripwire.models.exchange import Exchange
from pytest_tripwire.models.inprocess.direct import (
    Direct,
    LostConnectionError,
    without_blanks,
)
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.wire.openai_shapes import MODEL, error_body
from pytest_tripwire.models.wire.responses import Responses

_EVENTS = TypeAdapter(ResponseStreamEvent)

#: What the SDK's errors say of where they come from.
_REQUEST = httpx2.Request("POST", "tripwire://scripted-model/v1/responses")

_ERRORS: dict[int, Any] = {
    HTTPStatus.BAD_REQUEST: openai.BadRequestError,
    HTTPStatus.UNAUTHORIZED: openai.AuthenticationError,
    HTTPStatus.FORBIDDEN: openai.PermissionDeniedError,
    HTTPStatus.NOT_FOUND: openai.NotFoundError,
    HTTPStatus.TOO_MANY_REQUESTS: openai.RateLimitError,
}


def model(exchange: Exchange) -> Any:
    """A model that an exchange answers."""
    return ScriptedModel(Direct(exchange, Responses(), _failed))


class ScriptedModel(Model):
    """What an `Agent` of the SDK's is given."""

    #: Its name, where the SDK's own models have theirs.
    model = MODEL

    def __init__(self, direct: Direct) -> None:
        self._direct = direct

    async def get_response(self, *args: Any, **options: Any) -> Any:
        """The whole answer."""
        reply = await self._direct.aask(_body(*args, **options))
        response = Response.model_validate(reply.body())
        used = Usage()
        if reply.usage is not None:
            used = Usage(
                requests=1,
                input_tokens=reply.usage.prompt,
                output_tokens=reply.usage.completion,
                total_tokens=reply.usage.prompt + reply.usage.completion,
            )
        return ModelResponse(output=response.output, usage=used, response_id=response.id)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        """The answer in pieces."""
        reply = await self._direct.aask(_body(*args, **options), stream=True)
        for event in reply.events():
            yield _EVENTS.validate_python(event)


def _body(  # noqa: PLR0917 - the order is the SDK's
    system_instructions: str | None,
    input: Any,  # noqa: A002 - the SDK passes it by this name
    model_settings: Any,
    tools: list[Any],
    output_schema: Any,
    handoffs: list[Any],
    tracing: Any = None,  # noqa: ARG001 - the SDK passes it too
    *,
    previous_response_id: str | None = None,
    **_unserved: Any,
) -> dict[str, Any]:
    """The request in the form of Responses."""
    own = [
        _function(each.name, each.description, each.params_json_schema) for each in _plain(tools)
    ]
    theirs = [
        _function(each.tool_name, each.tool_description, each.input_json_schema)
        for each in handoffs
    ]
    body = {
        "model": MODEL,
        "instructions": system_instructions,
        "tools": [*own, *theirs],
        "tool_choice": _choice(model_settings.tool_choice),
        "parallel_tool_calls": model_settings.parallel_tool_calls,
        "text": _format(output_schema),
        "previous_response_id": previous_response_id,
    }
    return {**without_blanks(body), "input": input}


def _plain(tools: list[Any]) -> list[Any]:
    """Tools of the provider's own are nobody's to call here."""
    return [each for each in tools if hasattr(each, "params_json_schema")]


def _function(name: str, description: str, parameters: Any) -> dict[str, Any]:
    told = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", **told}


def _choice(wanted: Any) -> Any:
    if wanted is None or wanted in ("auto", "none", "required"):
        return wanted
    return {"type": "function", "name": wanted}


def _format(output: Any) -> dict[str, Any] | None:
    if output is None or output.is_plain_text():
        return None
    shape = {"type": "json_schema", "name": "final_output", "schema": output.json_schema()}
    return {"format": shape}


def _failed(error: RequestError | LostConnectionError) -> Any:
    if isinstance(error, LostConnectionError):
        return openai.APIConnectionError(message=str(error), request=_REQUEST)
    ours = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    default = openai.InternalServerError if ours else openai.APIStatusError
    body = error_body(error)
    response = httpx2.Response(error.status, headers=error.headers, json=body, request=_REQUEST)
    kind = _ERRORS.get(error.status, default)
    return kind(error.message, response=response, body=body["error"])
