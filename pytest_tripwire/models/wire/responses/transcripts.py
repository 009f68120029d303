"""What was said up to a response, for requests that name it in place of their history."""

from __future__ import annotations

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.conversation import Message
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import BYTES_PER_TOKEN
from pytest_tripwire.models.wire.held import MAX_BYTES, MAX_RESPONSES, Held


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
    """Transcripts by the id of their response.

    Args:
        most: responses that are kept.
        most_bytes: bytes of all of them.
    """

    def __init__(self, *, most: int = MAX_RESPONSES, most_bytes: int = MAX_BYTES) -> None:
        self._held = Held[Transcript](most=most, most_bytes=most_bytes)

    def keep(self, response_id: str, transcript: Transcript) -> None:
        """Keep a transcript."""
        self._held.hold(response_id, transcript, transcript.size)

    def find(self, response_id: str) -> Transcript:
        """The transcript up to a response. Raises `RequestError` for one that is not kept."""
        transcript = self._held.find(response_id)
        if transcript is None:
            raise RequestError(
                400,
                f"Previous response with id '{response_id[:100]}' not found. Name a response of "
                "this server whose request did not set `store` to false, or send the history as "
                f"`input`; the latest {self._held.most} responses are kept, up to "
                f"{self._held.most_bytes} bytes",
                param="previous_response_id",
                code="previous_response_not_found",
            )
        return transcript
