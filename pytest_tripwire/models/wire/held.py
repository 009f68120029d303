"""What a server holds of earlier conversations, within bounds."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

Value = TypeVar("Value")

#: Responses that can be gone on from; of more, those that nobody has asked for longest are lost.
MAX_RESPONSES = 1000

#: Bytes of all that is held. A history counts once for each of its responses.
MAX_BYTES = 64 * 1024 * 1024


class Held(Generic[Value]):
    """Values by the id of a response. Called from many threads at once.

    Args:
        most: how many are held.
        most_bytes: bytes of all of them.
    """

    def __init__(self, *, most: int = MAX_RESPONSES, most_bytes: int = MAX_BYTES) -> None:
        self.most = most
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        #: The one that was asked for last is the last. With its size in bytes.
        self._values: dict[str, tuple[Value, int]] = {}
        self._size = 0

    def hold(self, response_id: str, value: Value, size: int) -> None:
        """Hold a value of `size` bytes, at the expense of those that nobody has asked for longest.
        One that is too large by itself is not held.
        """
        with self._lock:
            self._drop(response_id)
            if size > self.most_bytes:
                return
            self._values[response_id] = (value, size)
            self._size += size
            while len(self._values) > self.most or self._size > self.most_bytes:
                self._drop(next(iter(self._values)))

    def find(self, response_id: str) -> Value | None:
        """The value of a response, None for one that is not held."""
        with self._lock:
            held = self._values.pop(response_id, None)
            if held is None:
                return None
            self._values[response_id] = held
            return held[0]

    def _drop(self, response_id: str) -> None:
        if (held := self._values.pop(response_id, None)) is not None:
            self._size -= held[1]
