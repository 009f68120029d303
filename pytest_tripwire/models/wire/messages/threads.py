"""Conversations that the server holds, for requests that continue one in place of sending it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.wire.held import MAX_BYTES, MAX_RESPONSES, Held

#: What stays as the thread was created with.
_FIXED = ("system", "tools")


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """What a request wants of the server's memory."""

    type: Literal["create", "continue"]
    previous_message_id: str = ""


class Threads:
    """Conversations by the id of the response that they end with.

    Args:
        most: responses that are held.
        most_bytes: bytes of JSON of all of them.
    """

    def __init__(self, *, most: int = MAX_RESPONSES, most_bytes: int = MAX_BYTES) -> None:
        self._held = Held[Mapping[str, Any]](most=most, most_bytes=most_bytes)

    def hold(self, response_id: str, told: Mapping[str, Any]) -> None:
        """Hold what a request told the model, its messages and what was fixed, with the answer as
        the last message.
        """
        self._held.hold(response_id, told, len(msgspec.json.encode(told)))

    def whole(self, thread: Thread | None, body: dict[str, Any]) -> dict[str, Any]:
        """A request's body with all that it leaves to the server's memory.

        Raises:
            RequestError: the conversation that it continues is not held, or it says once more what
                is fixed.
        """
        if thread is None or thread.type == "create":
            return body
        if again := [f"`{name}`" for name in _FIXED if name in body]:
            message = (
                f"{' and '.join(again)} cannot change within a thread: leave it out where one is "
                "continued, or create another one"
            )
            raise RequestError(400, message, code="thread_fingerprint_mismatch")
        held, new = self._find(thread.previous_message_id), body.get("messages")
        messages = [*held["messages"], *new] if isinstance(new, list) else new
        return {**body, **held, "messages": messages}

    def _find(self, response_id: str) -> Mapping[str, Any]:
        held = self._held.find(response_id)
        if held is None:
            raise RequestError(
                404,
                f"no thread is held for {response_id[:100]!r}: create one with all messages, and "
                "continue from the id of its latest response",
                code="thread_not_found",
            )
        return held
