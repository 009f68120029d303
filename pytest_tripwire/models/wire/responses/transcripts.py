"""What was said up to a response, for requests that name it in place of their history."""

from __future__ import annotations

import threading

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.conversation import Message
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import BYTES_PER_TOKEN

#: Responses that can be gone on from; of more, those that nobody has asked for longest are lost.
MAX_RESPONSES = 1000

#: Bytes of all that is kept, as it was sent. A history counts once for each of its responses.
MAX_BYTES = 64 * 1024 * 1024


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation up to a response.

    Args:
        messages: what was said, without the instructions.
        instructions: the latest ones. The model does not get them again; they tell which
            conversation this is.
        tokens: size of `messages`.
    """

    messages: tuple[Message, ...] = ()
    instructions: str = ""
    tokens: int = 0

    @property
    def size(self) -> int:
        """Bytes that it takes, roughly."""
        return self.tokens * BYTES_PER_TOKEN + len(self.instructions.encode())

    def answered(self, answer: Answer) -> Transcript:
        """The conversation with what the model answered."""
        ids = tuple(call.call_id for call in answer.calls)
        message = Message(role="assistant", text=answer.text, call_ids=ids)
        return msgspec.structs.replace(
            self, messages=(*self.messages, message), tokens=self.tokens + answer.tokens()
        )


class Transcripts:
    """Transcripts by the id of their response. Called from many threads at once.

    Args:
        most: responses that are kept.
        most_bytes: bytes of all of them.
    """

    def __init__(self, *, most: int = MAX_RESPONSES, most_bytes: int = MAX_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        #: The one that was asked for last is the last.
        self._kept: dict[str, Transcript] = {}
        self._size = 0

    def keep(self, response_id: str, transcript: Transcript) -> None:
        """Keep a transcript, at the expense of those that nobody has asked for longest. One that
        is too large by itself is not kept.
        """
        with self._lock:
            self._drop(response_id)
            if transcript.size > self._most_bytes:
                return
            self._kept[response_id] = transcript
            self._size += transcript.size
            while len(self._kept) > self._most or self._size > self._most_bytes:
                self._drop(next(iter(self._kept)))

    def find(self, response_id: str) -> Transcript:
        """The transcript up to a response. Raises `RequestError` for one that is not kept."""
        with self._lock:
            transcript = self._kept.pop(response_id, None)
            if transcript is not None:
                self._kept[response_id] = transcript
                return transcript
        raise RequestError(
            400,
            f"Previous response with id '{response_id[:100]}' not found. Name a response of this "
            "server whose request did not set `store` to false, or send the history as `input`; "
            f"the latest {self._most} responses are kept, up to {self._most_bytes} bytes",
            param="previous_response_id",
            code="previous_response_not_found",
        )

    def _drop(self, response_id: str) -> None:
        if (transcript := self._kept.pop(response_id, None)) is not None:
            self._size -= transcript.size
