"""What a wire protocol has to do, and how a request is turned down in its terms."""

from __future__ import annotations

from typing import Any, Protocol

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.request_error import RequestError


class Dialect(Protocol):
    """One protocol: a new one is a new file with a class like this."""

    @property
    def provider(self) -> str:
        """Whose protocol it is, as users name it: `openai`."""

    @property
    def base_path(self) -> str:
        """What follows the port in the base URL of the provider's SDKs."""

    @property
    def path(self) -> str:
        """The path that model requests are posted to."""

    def parse(self, body: dict[str, Any]) -> Conversation:
        """Read a request. Raises `RequestError` for one that the provider would refuse."""

    def render(self, conversation: Conversation, answer: Answer, tokens: int) -> dict[str, Any]:
        """The response body; `tokens` is the size of the completion in tokens."""

    def error(self, error: RequestError) -> dict[str, Any]:
        """The body of an error response."""
