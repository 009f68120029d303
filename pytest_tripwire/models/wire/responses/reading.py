"""Reads JSON into typed values, and says where it is something else."""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from pytest_tripwire.models.request_error import RequestError

_Kind = TypeVar("_Kind")

_PLACE = re.compile(r" - at `\$\.?(.*)`$")
_MISSING = re.compile(r"missing required field `(\w+)`")


def typed(value: Any, kind: type[_Kind], place: str = "") -> _Kind:
    """`value` as a `kind`. `place`: where in the request it stands; empty for all of it.

    Raises `RequestError` when it is none.
    """
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise _wrong(str(error), place) from error


def _wrong(message: str, place: str) -> RequestError:
    inner = _PLACE.search(message)
    missing = _MISSING.search(message)
    parts = [place, inner[1] if inner else "", missing[1] if missing else ""]
    param = ".".join(filter(None, parts))
    return wrong(f"{_PLACE.sub('', message)} at `{param or 'body'}`", param or None)


def wrong(message: str, param: str | None) -> RequestError:
    """The error for a request that is none of this protocol, at `param`."""
    text = f"not a Responses request: {message}. Correct it in the request that the agent sends"
    return RequestError(400, text, param=param)
