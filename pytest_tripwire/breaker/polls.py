"""Results that tell that something is still under way, so that asking again is waiting."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.breaker.names import parts

_UNDER_WAY = re.compile(
    r"\b(still|running|pending|in[ _-]?progress|queued|processing|waiting|starting|building"
    r"|provisioning|creating|scheduled|uploading|downloading|syncing|deploying|initiali[sz]ing"
    r"|working|not (yet )?(ready|done|finished|complete|completed|available)|no(t| new)? output yet"
    r"|come back later|try again later)\b"
)
#: A state that is one word for something going on, whatever it is: `preparing`, `installing 3/7`.
_DOING = re.compile(r"(?!nothing|missing|warning|existing|outstanding|during)[a-z]{3,}ing\b[^a-z]*")
_OVER = re.compile(r"\b(failed|failure|error|done|finished|completed?|succeeded|not found)\b")
_STATES = frozenset(
    {"status", "state", "phase", "progress", "stage", "message", "output", "result"}
)
#: A text that is longer than this is a result, whatever word it holds.
_LONGEST = 200


def is_under_way(result: Any) -> bool:
    """Whether a result says that it is not there yet: a short text, or the field for the state."""
    if isinstance(result, str):
        return _says_so(result)
    if not isinstance(result, Mapping):
        return False
    states = [value for name, value in result.items() if _tells_state(name)]
    return any(isinstance(value, str) and _says_so(value) for value in states)


def _tells_state(name: Any) -> bool:
    return isinstance(name, str) and bool(parts(name)) and parts(name)[-1] in _STATES


def _says_so(text: str) -> bool:
    plain = text.casefold().replace("_", " ")
    if _DOING.fullmatch(plain.strip()):
        return True
    if len(plain) > _LONGEST or _OVER.search(plain.replace("not yet", "not")) is not None:
        return _negated(plain)
    return bool(_UNDER_WAY.search(plain))


def _negated(plain: str) -> bool:
    """`not finished` holds a word for the end and means the opposite."""
    found = re.search(r"\bnot (yet )?(done|finished|completed?)\b", plain)
    return len(plain) <= _LONGEST and found is not None
