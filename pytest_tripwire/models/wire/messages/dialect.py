"""Anthropic's Messages protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.messages import request, response, shapes, stream
from pytest_tripwire.models.wire.messages.threads import Threads
from pytest_tripwire.models.wire.sse import Event


class AnthropicMessages:
    """The dialect of `POST /v1/messages`. It remembers what it has said, for requests that continue
    a thread.

    Args:
        threads: where it does; its own unless given.
    """

    provider = "anthropic"
    #: The provider's SDKs add `/v1` themselves.
    base_path = ""
    path = "/v1/messages"
    count_path = "/v1/messages/count_tokens"

    def __init__(self, threads: Threads | None = None) -> None:
        self._threads = threads or Threads()

    def parse(self, body: dict[str, Any]) -> Asked:
        """Read a request. Raises `RequestError` for one that the provider would refuse."""
        return request.parse(body, self._threads)

    def render(self, asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
        """The response's body. Without `usage` it says nothing of its size."""
        self._hold(asked, answer)
        return response.render(asked, answer, usage)

    def stream(self, asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
        """The same as server-sent events."""
        self._hold(asked, answer)
        return stream.events(asked, answer, usage)

    def count(self, tokens: int) -> dict[str, Any]:
        """The body that tells a count of tokens."""
        return {"input_tokens": tokens}

    def models(self) -> list[dict[str, Any]]:
        """The models that there are."""
        return shapes.models_body()

    def listed(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """The body of the list of models."""
        return shapes.listed(models)

    def error(self, error: RequestError) -> dict[str, Any]:
        """The body of an error response."""
        return shapes.error_body(error)

    def _hold(self, asked: Asked, answer: Answer) -> None:
        if asked.echo["held"]:
            told = response.told(asked, answer)
            self._threads.hold(response.message_id(asked, answer), told)
