"""What of a model request has a meaning: two requests with the same meaning are the same here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from pytest_tripwire.models.cassettes.interaction import Sent
from pytest_tripwire.models.cassettes.multipart import without_boundary

#: Top-level fields by which providers of models tell users, caches and retries apart.
MEANINGLESS = frozenset(
    {
        "user",
        "metadata",
        "prompt_cache_key",
        "prompt_cache_retention",
        "safety_identifier",
        "idempotency_key",
    }
)

#: Fields that refer to a call, an item or a response; agents make up some of them.
_IDS = frozenset(
    {
        "call_id",
        "tool_call_id",
        "tool_use_id",
        "item_id",
        "previous_response_id",
        "response_id",
        "approval_request_id",
    }
)
_MADE = re.compile(r"(?:call|toolu|srvtoolu|mcptoolu|resp|msg|fc|ctc|rs|item|chatcmpl)[-_][\w-]+")

#: Below these stands what tools take, which is the team's own: nothing in there is an id of ours.
_FREE = frozenset(
    {
        "arguments",
        "parameters",
        "input_schema",
        "schema",
        "json_schema",
        "properties",
        "variables",
    }
)

#: One of these stands beside the name of a model in a request to it.
_ASKED = frozenset({"messages", "input", "prompt", "instructions"})
_GIVEN = re.compile(r'"\w*id"\s*:\s*"([^"\\]+)"')


class Canonical(msgspec.Struct, frozen=True, kw_only=True):
    """The meaning of a request; equal for requests of equal meaning.

    Args:
        host: host and port. They tell apart what was asked of several, and nothing else.
        method: in capitals.
        path: without a closing slash.
        query: names and values, sorted.
        body: values of JSON, or a text.
    """

    host: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: Any


def canonical(
    sent: Sent, ignore: Iterable[str] = (), given: frozenset[str] = frozenset()
) -> Canonical:
    """The meaning of a request. Headers have none, and the host has little: a recording is played
    whatever the server was called.

    Args:
        sent: a request, filtered.
        ignore: further top-level fields of its body that mean nothing.
        given: ids that the recorded answers hold. Played, they are the same each time, so they
            mean themselves.
    """
    parts = urlsplit(sent.uri)
    return Canonical(
        host=parts.netloc.rpartition("@")[2].lower(),
        method=sent.method.upper(),
        path=parts.path.rstrip("/") or "/",
        query=tuple(sorted(parse_qsl(parts.query, keep_blank_values=True))),
        body=canonical_body(
            without_boundary(sent.body, sent.header("content-type")), ignore, given
        ),
    )


def canonical_body(
    body: bytes, ignore: Iterable[str] = (), given: frozenset[str] = frozenset()
) -> Any:
    """The meaning of a body: keys sorted, and in what a model is asked, ids numbered as they
    appear and meaningless fields left out. A body that is no JSON means itself.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "surrogateescape")
    if not isinstance(value, dict):
        return value
    asks = _asks_a_model(value)
    left_out = MEANINGLESS.union(ignore) if asks else frozenset(ignore)
    kept = {name: each for name, each in value.items() if name not in left_out}
    return _Numbering(given).of(kept) if asks else kept


def _asks_a_model(value: dict[str, Any]) -> bool:
    # To the API of a tool, `user` and `item_id` are what it is about.
    named = isinstance(value.get("model"), str) or "anthropic_version" in value
    return named and not _ASKED.isdisjoint(value)


def ids_given(text: str) -> Iterator[str]:
    """The ids in an answer: JSON, or events that hold some."""
    yield from _GIVEN.findall(text)


class _Numbering:
    """Numbers ids in the order in which they appear, save those that the answers gave."""

    def __init__(self, given: frozenset[str]) -> None:
        self._given = given
        self._numbers: dict[str, str] = {}

    def of(self, value: Any, *, free: bool = False) -> Any:
        if isinstance(value, list):
            return [self.of(each, free=free) for each in value]
        if not isinstance(value, dict):
            return value
        return {name: self._member(name, value[name], free=free) for name in sorted(value, key=str)}

    def _member(self, name: str, value: Any, *, free: bool) -> Any:
        if isinstance(value, str):
            return self._number(value) if not free and _is_id(name, value) else value
        # The input of a tool is an object; that of the Responses API a list of items.
        inside = name in _FREE or (name == "input" and isinstance(value, dict))
        return self.of(value, free=free or inside)

    def _number(self, value: str) -> str:
        if value in self._given:
            return value
        return self._numbers.setdefault(value, f"id {len(self._numbers) + 1}")


def _is_id(name: str, value: str) -> bool:
    return name in _IDS or (name == "id" and _MADE.fullmatch(value) is not None)
