"""The shape of a fault of the model's side."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.tokens import Usage


class Delivery(msgspec.Struct, frozen=True, kw_only=True):
    """How a response gets to the client.

    Args:
        delay: real seconds before its first byte.
        drop: whether the connection ends without a byte.
        cut: parts of the stream after which the connection ends; a response that is no stream
            ends in its middle. None: it arrives whole.
    """

    delay: float = 0.0
    drop: bool = False
    cut: int | None = None


WHOLE = Delivery()


class ModelFault(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that goes wrong, at a turn of the scripted model and a try of the client.

    Args:
        turn: the turn at which it does, counted from 0; None for every turn.
        attempts: the tries of that turn's request, counted from 1; none for every try.

    Raises:
        ValueError: for what could never strike, or is no such thing; with what to write.
    """

    turn: int | None = 0
    attempts: tuple[int, ...] = (1,)

    #: Whether the move arrives in a shape that no tool can take, so that the model has to make it
    #: once more at the next turn. What a client gets is then the same at every try.
    spoils: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Look at the fields, where the line that is wrong can be shown."""
        self._demand(
            f"turn={self.turn!r}: give a number from 0, or None for every turn",
            sound=self.turn is None or is_count(self.turn, 0),
        )
        tries: object = self.attempts
        self._demand(
            f"attempts={tries!r}: give a tuple of numbers from 1, such as (1, 2), or () for all",
            sound=isinstance(tries, tuple) and all(is_count(each, 1) for each in tries),
        )

    def _demand(self, what: str, *, sound: bool) -> None:
        if not sound:
            raise ValueError(f"{type(self).__name__}: {what}")

    def hits(self, turn: int | None, attempt: int) -> bool:
        """Whether it strikes the request of this turn, at this try; the turn is None as in
        `Plan.at`.
        """
        tried = self.spoils or not self.attempts or attempt in self.attempts
        return tried and self.turn in (None, turn)

    def error(self) -> RequestError | None:
        """The error response in place of an answer."""
        return None

    def alter(self, answer: Answer) -> Answer:
        """The answer that goes out."""
        return answer

    def count(self, usage: Usage | None) -> Usage | None:
        """The usage that is reported; None for none."""
        return usage

    def deliver(self, delivery: Delivery) -> Delivery:
        """How the response gets to the client."""
        return delivery


def is_count(value: object, least: int) -> bool:
    """Whether it is a whole number, and not less than that."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least
