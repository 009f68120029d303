"""OpenAI's Chat Completions protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire import openai_shapes
from pytest_tripwire.models.wire.chat import request, response, stream
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.sse import Event


class ChatCompletions:
    """The dialect of `POST /v1/chat/completions`."""

    provider = "openai"
    base_path = "/v1"
    path = "/v1/chat/completions"
    count_path = ""

    def parse(self, body: dict[str, Any]) -> Asked:
        """Read a request. Raises `RequestError` for one that the provider would refuse."""
        return request.parse(body)

    def render(self, asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
        """The response's body. Without `usage` it says nothing of its size."""
        return response.render(asked, answer, usage)

    def stream(self, asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
        """The same as server-sent events."""
        return stream.events(asked, answer, usage)

    def count(self, tokens: int) -> dict[str, Any]:
        """The body that tells a count of tokens."""
        return {"total_tokens": tokens}

    def models(self) -> list[dict[str, Any]]:
        """The models that there are."""
        return openai_shapes.models_body()

    def listed(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """The body of the list of models."""
        return openai_shapes.listed(models)

    def error(self, error: RequestError) -> dict[str, Any]:
        """The body of an error response."""
        return openai_shapes.error_body(error)
