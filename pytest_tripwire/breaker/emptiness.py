"""Results that say that there is nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.names import parts

_COUNTS = frozenset(
    {"count", "counts", "total", "size", "length", "num", "hits", "matches", "n", "found"}
)

_NOTHING = re.compile(
    r"(none|null|nil|nothing|empty|n/a|-|0)"
    r"|(sorry, ?)?(no|zero|0)( \w+){0,4} (found|available|exists?|matched|returned|yet)"
    r"|(no|zero|0) (\w+ )?(results?|match(es)?|hits?|entries|records?|rows?|items?|files?)"
    r"|(no|zero|0) (\w+ )?documents?"
    r"|(nothing|none)( \w+){0,2} (found|matched|available)|not found"
)
_MARKUP = re.compile(r"<[^<>]*>")
#: Longer texts say something.
_LONGEST = 80

#: Deeper than any result that says nothing; what is nested further says something.
DEEPEST = 32


def is_empty(result: Any, depth: int = DEEPEST) -> bool:
    """Whether a result says that there is nothing: none, false, blank, or all parts empty. A zero
    counts where its field's name says that it counts.
    """
    if result is None or result is False:
        return True
    if isinstance(result, str):
        return not result.strip()
    if isinstance(result, Mapping):
        parts = result.items()
        return depth > 0 and all(_part_is_empty(name, value, depth - 1) for name, value in parts)
    return isinstance(result, list | tuple | set | frozenset) and not result


def finds_nothing(result: Any) -> bool:
    """Whether a search that gives this has found nothing. Looser than `is_empty`: zero, a phrase
    for nothing, and JSON in a text count as well. It is no proof that nothing is there.
    """
    if isinstance(result, str):
        return _says_nothing(result)
    if type(result) in {int, float}:
        return bool(result == 0)
    return is_empty(result)


def _part_is_empty(name: Any, value: Any, depth: int) -> bool:
    counts = isinstance(value, int) and not isinstance(value, bool) and value == 0
    if counts and isinstance(name, str):
        return not _COUNTS.isdisjoint(parts(name))
    return is_empty(value, depth)


def _says_nothing(text: str) -> bool:
    plain = text.strip()
    if plain[:1] in {"[", "{"} and plain[-1] in "]}":
        parsed = parsed_json(plain)
        return parsed is not None and is_empty(parsed)
    if plain.startswith("<") and plain.endswith(">"):
        plain = _MARKUP.sub(" ", plain).strip()  # no text and no count but zero is left
    return len(plain) <= _LONGEST and (
        not plain or _NOTHING.fullmatch(plain.casefold().rstrip(".!")) is not None
    )


def parsed_json(text: str) -> Any:
    """What a text is as JSON, None if it is none: many tools return their results as text."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
