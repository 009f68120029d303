"""One request to a model, as telemetry tells of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from pytest_tripwire.replay.reading import names
from pytest_tripwire.replay.reading.span import Kind, Span
from pytest_tripwire.replay.trace import is_money

_MOST_TOKENS = 2**53


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was asked and has answered.

    Args:
        span: that tells of it.
        calls: the ids of the calls that it proposed, where the answer was recorded.
        text: what it said, where that was recorded.
    """

    span: Span
    calls: tuple[str, ...] = ()
    text: str | None = None

    def used(self) -> dict[str, Any]:
        """What it used, as the fields of a step."""
        return {
            "cost_usd": _money(self.span.first(names.COST)),
            "prompt_tokens": _tokens(self.span.first(names.PROMPT_TOKENS)),
            "completion_tokens": _tokens(self.span.first(names.COMPLETION_TOKENS)),
            "text": self.text,
        }


def requests_of(told: Sequence[Span]) -> list[Request]:
    """The requests among the spans of a run, in their order."""
    return [_request(span) for span in told if span.kind is Kind.MODEL]


def _request(span: Span) -> Request:
    parts = list(_parts(names.parsed(span.first(names.OUTPUT))))
    calls = [str(part["id"]) for part in parts if part.get("type") == "tool_call" and "id" in part]
    said = [str(part.get("content")) for part in parts if part.get("type") == "text"]
    return Request(span=span, calls=tuple(calls), text="\n".join(said) or None)


def _parts(messages: Any) -> Iterator[dict[str, Any]]:
    """The parts of the messages that a model has answered with."""
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                yield part


def _tokens(value: Any) -> int | None:
    """A number of tokens; None for what is none."""
    try:
        tokens = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return tokens if 0 <= tokens <= _MOST_TOKENS else None


def _money(value: Any) -> Decimal | None:
    """US dollars; None for what are none. Unknown is never zero."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if is_money(amount) else None
