"""OpenAI's Responses protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire import openai_shapes
from pytest_tripwire.models.wire.dialect import Asked
from pytest_tripwire.models.wire.responses import request, response, stream
from pytest_tripwire.models.wire.responses.transcripts import Transcripts
from pytest_tripwire.models.wire.sse import Event


class Responses:
    """The dialect of `POST /v1/responses`. It remembers what it has said, for requests that go on
    from a response.

    Args:
        transcripts: where it does; its own unless given.
    """

    provider = "openai"
    base_path = "/v1"
    path = "/v1/responses"
    count_path = "/v1/responses/input_tokens"

    def __init__(self, transcripts: Transcripts | None = None) -> None:
        self._transcripts = transcripts or Transcripts()

    def parse(self, body: dict[str, Any]) -> Asked:
        """Read a request. Raises `RequestError` for one that the provider would refuse."""
        return request.parse(body, self._transcripts)

    def render(self, asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
        """The response's body. Without `usage` it says nothing of its size."""
        self._keep(asked, answer)
        return response.render(asked, answer, usage)

    def stream(self, asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
        """The same as server-sent events."""
        self._keep(asked, answer)
        return stream.events(asked, answer, usage)

    def count(self, tokens: int) -> dict[str, Any]:
        """The body that tells a count of tokens."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def models(self) -> list[dict[str, Any]]:
        """The models that there are."""
        return openai_shapes.models_body()

    def listed(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """The body of the list of models."""
        return openai_shapes.listed(models)

    def error(self, error: RequestError) -> dict[str, Any]:
        """The body of an error response."""
        body = openai_shapes.error_body(error)
        if error.param == "response_format":
            # Where the schema of the answer stands in this protocol.
            body["error"]["param"] = "text.format"
        return body

    def _keep(self, asked: Asked, answer: Answer) -> None:
        if asked.echo["repeats"]["store"]:
            transcript = asked.echo["transcript"].answered(answer)
            self._transcripts.keep(response.response_id(asked, answer), transcript)
