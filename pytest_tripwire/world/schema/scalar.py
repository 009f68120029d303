"""The smallest strings and numbers that a JSON schema allows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

#: Longer than any real `minLength`; a huge one must not fill the memory.
LONGEST = 10_000

#: Beyond these a float no longer counts in ones, or a division overflows.
_LARGEST = 1e15
_FINEST = 1e-9

_FORMATS = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "00:00:00Z",
    "duration": "PT0S",
    "email": "nobody@example.com",
    "hostname": "example.com",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def smallest_string(schema: Mapping[str, Any]) -> str:
    """The shortest string for `format` and `minLength`."""
    shape = schema.get("format")
    text = _FORMATS.get(shape, "") if isinstance(shape, str) else ""
    length = _number(schema, "minLength")
    return text if length is None else text.ljust(int(min(length, LONGEST)), "x")


def smallest_number(schema: Mapping[str, Any], *, whole: bool) -> float:
    """The least number within the bounds, or 0 where nothing bounds it from below."""
    low, above = _number(schema, "minimum"), _number(schema, "exclusiveMinimum")
    high, below = _number(schema, "maximum"), _number(schema, "exclusiveMaximum")
    if above is not None and (low is None or above >= low):
        low = _just_above(above, _least(high, below), whole=whole)
    if low is None:
        low = _unbounded_below(high, below)
    step = _number(schema, "multipleOf") or (1 if whole else 0)
    value = math.ceil(low / step) * step if step > _FINEST else low
    return int(value) if whole else value


def _just_above(bound: float, high: float | None, *, whole: bool) -> float:
    if whole:
        return math.floor(bound) + 1
    return bound + 1 if high is None or high > bound + 1 else (bound + high) / 2


def _unbounded_below(high: float | None, below: float | None) -> float:
    reached = 0.0 if below is None or below > 0 else below - 1
    return min(reached, 0.0 if high is None else high)


def _least(*bounds: float | None) -> float | None:
    return min((bound for bound in bounds if bound is not None), default=None)


def _number(schema: Mapping[str, Any], keyword: str) -> float | None:
    value = schema.get(keyword)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < _LARGEST else None
