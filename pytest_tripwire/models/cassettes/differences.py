"""Where two requests differ, told without a word of what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from pytest_tripwire.models.cassettes.canonical import Canonical

#: A name is shown if it looks like a name of an API's; any other may be what somebody wrote.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
_MISSING = object()


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """One field that differs.

    Args:
        field: where it is, such as `messages[2].content`.
        detail: of what kind and size both are, and where texts part.
    """

    field: str
    detail: str


def differences(asked: Canonical, recorded: Canonical) -> Iterator[Difference]:
    """Every field in which a request differs from a recorded one: host, method, path and query
    first, then the body, lists in their order and names in that of the alphabet.

    Args:
        asked: what is asked; without a host if that is none of the recorded ones.
        recorded: what was asked when it was recorded.
    """
    if asked.host not in ("", recorded.host):
        yield Difference(field="host", detail="another of the recorded hosts")
    for name in ("method", "path", "query"):
        if getattr(asked, name) != getattr(recorded, name):
            yield Difference(field=name, detail=f"another {name}")
    yield from _between(asked.body, recorded.body, "")


def _between(asked: Any, recorded: Any, place: str) -> Iterator[Difference]:
    if isinstance(asked, dict) and isinstance(recorded, dict):
        for name in sorted(asked.keys() | recorded.keys()):
            inside = f"{place}.{_shown(name)}" if place else _shown(name)
            yield from _between(asked.get(name, _MISSING), recorded.get(name, _MISSING), inside)
    elif isinstance(asked, list) and isinstance(recorded, list):
        for index in range(max(len(asked), len(recorded))):
            yield from _between(_at(asked, index), _at(recorded, index), f"{place}[{index}]")
    elif asked != recorded or isinstance(asked, bool) is not isinstance(recorded, bool):
        yield Difference(field=place or "body", detail=_detail(asked, recorded))


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else _MISSING


def _detail(asked: Any, recorded: Any) -> str:
    told = f"{_kind(asked)} here, {_kind(recorded)} in the recording"
    if isinstance(asked, str) and isinstance(recorded, str):
        return f"{told}; they part at character {_parting(asked, recorded)}"
    return told


def _parting(asked: str, recorded: str) -> int:
    """The number of the first character that differs, from 1."""
    pairs = enumerate(zip(asked, recorded, strict=False), 1)
    return next((n for n, (a, b) in pairs if a != b), min(len(asked), len(recorded)) + 1)


def _kind(value: Any) -> str:
    if value is _MISSING:
        return "missing"
    if isinstance(value, str):
        return f"text of {len(value)} characters"
    if isinstance(value, dict | list):
        return f"{'object' if isinstance(value, dict) else 'list'} of {len(value)}"
    if isinstance(value, bool):
        return "true or false"
    return "null" if value is None else "number"


def _shown(name: str) -> str:
    return name if _NAME.fullmatch(name) else f"(a name of {len(name)} characters)"
