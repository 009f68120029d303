"""What a wire protocol has to do, and how a request is turned down in its terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.sse import Event


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request, read.

    Args:
        conversation: what it says.
        stream: whether the answer is to come in pieces.
        usage_in_stream: whether a stream is to report its usage.
        echo: what the protocol's responses repeat of their request, or keep for the next one.
        lacks: what it lacks to be answered, as its client is told; its tokens can be counted all
            the same. Empty for nothing.
    """

    conversation: Conversation
    stream: bool = False
    usage_in_stream: bool = True
    echo: Mapping[str, Any] = {}
    lacks: str = ""


class Dialect(Protocol):
    """One protocol: a new one is a new folder with a class like this."""

    @property
    def provider(self) -> str:
        """Whose protocol it is, as users name it: `openai`."""

    @property
    def base_path(self) -> str:
        """What follows the port in the base URL of the provider's SDKs."""

    @property
    def path(self) -> str:
        """The path that model requests are posted to."""

    @property
    def count_path(self) -> str:
        """The path that requests are posted to whose tokens are to be counted; empty for none."""

    def parse(self, body: dict[str, Any]) -> Asked:
        """Read a request. Raises `RequestError` for one that the provider would refuse."""

    def render(self, asked: Asked, answer: Answer, usage: Usage | None) -> dict[str, Any]:
        """The response's body. Without `usage` it says nothing of its size."""

    def stream(self, asked: Asked, answer: Answer, usage: Usage | None) -> Iterator[Event]:
        """The same as server-sent events."""

    def count(self, tokens: int) -> dict[str, Any]:
        """The body that tells a count of tokens."""

    def models(self) -> list[dict[str, Any]]:
        """The models that there are, each as the provider describes one."""

    def listed(self, models: list[dict[str, Any]]) -> dict[str, Any]:
        """The body of the list of models."""

    def error(self, error: RequestError) -> dict[str, Any]:
        """The body of an error response."""
