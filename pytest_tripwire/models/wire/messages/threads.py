"""Conversations that the server holds, for requests that continue one in place of sending it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from pytest_tripwire.models.request_error import RequestError

#: Responses that can be continued; of more, those that nobody has asked for longest are lost.
MAX_RESPONSES = 1000

#: Bytes of JSON of all that is held. A history counts once for each of its responses.
MAX_BYTES = 64 * 1024 * 1024

#: What stays as the thread was created with.
_FIXED = ("system", "tools")


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """What a request wants of the server's memory."""

    type: Literal["create", "continue"]
    previous_message_id: str = ""


class Threads:
    """Conversations by the id of the response that they end with. Called from many threads of the
    process at once.

    Args:
        most: responses that are held.
        most_bytes: bytes of all of them.
    """

    def __init__(self, *, most: int = MAX_RESPONSES, most_bytes: int = MAX_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        #: The one that was asked for last is the last. With its size in bytes.
        self._held: dict[str, tuple[Mapping[str, Any], int]] = {}
        self._size = 0

    def hold(self, response_id: str, told: Mapping[str, Any]) -> None:
        """Hold what a request told the model, its messages and what was fixed, with the answer as
        the last message. It takes the place of those that nobody has asked for longest; what is
        too large by itself is not held.
        """
        size = len(msgspec.json.encode(told))
        with self._lock:
            self._drop(response_id)
            if size > self._most_bytes:
                return
            self._held[response_id] = (told, size)
            self._size += size
            while len(self._held) > self._most or self._size > self._most_bytes:
                self._drop(next(iter(self._held)))

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
        with self._lock:
            held = self._held.pop(response_id, None)
            if held is not None:
                self._held[response_id] = held
                return held[0]
        raise RequestError(
            404,
            f"no thread is held for {response_id[:100]!r}: create one with all messages, and "
            "continue from the id of its latest response",
            code="thread_not_found",
        )

    def _drop(self, response_id: str) -> None:
        if (held := self._held.pop(response_id, None)) is not None:
            self._size -= held[1]
