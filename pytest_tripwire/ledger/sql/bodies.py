"""Values as text and back. Some come from models and tools: no text may be too odd to be kept."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TypeVar

import msgspec

from pytest_tripwire.ledger.errors import UnfitError, UnreadableError

_Struct = TypeVar("_Struct", bound=msgspec.Struct)

#: Longer ones do not go into an index of PostgreSQL, whose entries are limited to 2.7 kB.
_LONGEST = 200
_ENCODER = msgspec.json.Encoder()
_SEE = "See that names and ids are text, and numbers finite, where the breaker is given them"
_HASHED = "\x01sha256:"


def handle(text: str) -> str:
    """A text as it is searched for: itself, or its hash where a database would not take it. No
    two texts have one handle. Raises UnfitError for what is no text.
    """
    if not isinstance(text, str):
        raise UnfitError(f"a store finds things by text, and this is {type(text).__name__}. {_SEE}")
    if text.isascii() and len(text) <= _LONGEST and "\x00" not in text and text[:1] != "\x01":
        return text
    return _HASHED + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def quoted(text: str | None) -> str | None:
    """A text from a tool as a column keeps it."""
    return None if text is None else json.dumps(text)


def unquoted(text: str | None) -> str | None:
    """What `quoted` was given."""
    return None if text is None else str(json.loads(text))


def body_of(value: msgspec.Struct) -> str:
    """A value as JSON, which `value_of` gives back. Raises UnfitError for one that it would not:
    kept all the same it would be in everybody's way.
    """
    try:
        text = _written(value)
        value_of(type(value), text)
    except (TypeError, ValueError, OverflowError, UnreadableError) as error:
        why = error.__cause__ or error
        raise UnfitError(
            f"this {type(value).__name__} could not be read back, so that the store does not keep "
            f"it: {why}. {_SEE}"
        ) from error
    return text


def _written(value: msgspec.Struct) -> str:
    try:
        return _ENCODER.encode(value).decode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which no UTF-8 holds and an escape does.
        return json.dumps(msgspec.to_builtins(value))


def value_of(kind: type[_Struct], text: str) -> _Struct:
    """The value that a body holds; fields that this release does not know are left out. Raises
    UnreadableError if it is none of that kind.
    """
    try:
        value: _Struct = _decoder(kind).decode(text)
    except msgspec.MsgspecError:
        return _value_slowly(kind, text)
    return value


def _value_slowly(kind: type[_Struct], text: str) -> _Struct:
    try:
        value: _Struct = msgspec.convert(json.loads(text), kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise UnreadableError(
            f"what the store holds is no {kind.__name__} that this release can read: {error}. "
            "If a later release has written it, read it with that one."
        ) from error
    return value


@functools.cache
def _decoder(kind: type[_Struct]) -> msgspec.json.Decoder[_Struct]:
    return msgspec.json.Decoder(kind)
