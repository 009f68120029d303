"""What a proposed call is about, without what the model mints anew for every attempt."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import combined, digest
from pytest_tripwire.breaker.names import is_nonce, is_talk
from pytest_tripwire.breaker.words import printable
from pytest_tripwire.timeline import DEFAULT_VOLATILE, Effect, ToolCall, ToolSpec

#: What the references of things begin with that nobody has declared to be an identity.
UNDECLARED = "undeclared:"
#: Characters of a reference.
_LONGEST = 200
#: Characters of an argument that patterns are looked for in.
_SEARCHED = 20_000
#: Digits of a number that a text may hold.
_DIGITS = 18


class Intent(msgspec.Struct, frozen=True, kw_only=True):
    """Fingerprints of one proposal.

    Args:
        resource: tenant, operation and what is acted on.
        digest: the resource and all that would be done to it; nonces and wording left out.
        exact: the same with its wording.
        content: what would be done, whatever it is done to; of a hand-off, what it carries.
    """

    resource: str
    digest: str
    exact: str = ""
    content: str = ""


def intent_of(call: ToolCall, spec: ToolSpec, tenant: str) -> Intent:
    """The fingerprints of `call`. `tenant` is trusted context, never an argument of the model."""
    said = {name: value for name, value in call.arguments.items() if not is_minted(name, spec)}
    meant = {name: value for name, value in said.items() if not is_talk_of(name, spec)}
    named = _identity_in(call.arguments, meant, spec)
    resource = _resource(tenant, spec.kind, named)
    if spec.effect is Effect.HANDOFF:
        return _handoff(spec, resource, meant, said)
    intended = resource  # where nothing is declared, every argument is in the resource already
    if not isinstance(named, dict):
        # What is acted on is in the resource already, whatever this tool calls it.
        rest = _without(meant, spec.identity or ())
        intended = combined(resource, digest(rest, whole_numbers=True))
    exact = intended
    if len(said) != len(meant):
        exact = combined(resource, digest(said, whole_numbers=True))
    return Intent(resource=resource, digest=intended, exact=exact)


def resource_of(arguments: Mapping[str, Any], spec: ToolSpec, tenant: str) -> str:
    """The fingerprint of what a call with these arguments acts on."""
    return _resource(tenant, spec.kind, identity_of(arguments, spec))


def _resource(tenant: str, kind: str, named: Any) -> str:
    if isinstance(named, dict):
        return combined(digest((tenant, kind)), digest(named, whole_numbers=True))
    return digest((tenant, kind, *named), whole_numbers=True)


def _handoff(spec: ToolSpec, resource: str, meant: dict[str, Any], said: dict[str, Any]) -> Intent:
    carried = _without(meant, spec.identity or ())
    if spec.required_fields:
        carried = {name: carried[name] for name in spec.required_fields if name in carried}
    content = digest(carried, whole_numbers=True)
    return Intent(
        resource=resource,
        digest=combined(resource, content),
        exact=combined(resource, digest(said, whole_numbers=True)),
        content=content,
    )


def kept_of(arguments: Mapping[str, Any], spec: ToolSpec) -> dict[str, Any]:
    """The arguments that are neither nonce nor talk."""
    return {
        name: value
        for name, value in arguments.items()
        if not is_minted(name, spec) and not is_talk_of(name, spec)
    }


def is_minted(name: str, spec: ToolSpec) -> bool:
    """Whether an argument is a nonce: declared, or by its name where nothing else is declared."""
    if name in spec.volatile:
        return True
    return (name in DEFAULT_VOLATILE or is_nonce(name)) and not _is_declared(name, spec)


def is_talk_of(name: str, spec: ToolSpec) -> bool:
    """Whether an argument is wording: declared, or what the model says to itself."""
    return name in spec.wording or (is_talk(name) and not _is_declared(name, spec))


def _is_declared(name: str, spec: ToolSpec) -> bool:
    return name in (spec.identity or ()) or name in spec.cursor or name in spec.required_fields


def plain(call: ToolCall) -> ToolCall:
    """`call` with an id and a name that can be looked up, whatever a model has sent for them."""
    sent: tuple[Any, Any] = (call.call_id, call.tool)  # whatever the annotation says
    if all(isinstance(each, str) for each in sent):
        return call
    return msgspec.structs.replace(call, call_id=str(call.call_id), tool=str(call.tool))


def identity_of(arguments: Mapping[str, Any], spec: ToolSpec) -> Any:
    """What is acted on: the declared identity by position, so that the tools of one operation
    may name it differently; undeclared, what the patterns find, else every argument that is
    neither nonce nor wording.
    """
    return _identity_in(arguments, None, spec)


def _identity_in(
    arguments: Mapping[str, Any], kept: Mapping[str, Any] | None, spec: ToolSpec
) -> Any:
    """The same, of arguments of which it may be known already what is neither nonce nor wording."""
    if spec.identity is not None:
        return tuple(_as_reference(arguments.get(name)) for name in spec.identity)
    if spec.resource_patterns:
        found = _found(arguments, spec.resource_patterns)
        if found:
            return found
    return {
        name: _as_reference(value) if isinstance(value, str) and len(value) <= _LONGEST else value
        for name, value in (kept_of(arguments, spec) if kept is None else kept).items()
    }


def _found(arguments: Mapping[str, Any], patterns: tuple[str, ...]) -> tuple[str | int, ...]:
    texts = [value[:_SEARCHED] for value in arguments.values() if isinstance(value, str)]
    found = {
        match.group(match.lastindex or 0)
        for pattern in patterns
        for text in texts
        for match in re.finditer(pattern, text)
    }
    # A text does not tell a number from its digits; another tool's identity is mostly the number.
    named = [_as_reference(each) for each in sorted(found)]
    return tuple(int(each) if each.isdecimal() and len(each) < _DIGITS else each for each in named)


def _as_reference(value: Any) -> Any:
    """A reference without what nobody sees: space around it, wide forms, characters of no width."""
    if not isinstance(value, str):
        return value
    if value.isascii():
        return value.strip()
    text = unicodedata.normalize("NFKC", value)
    return "".join(each for each in text if unicodedata.category(each) != "Cf").strip()


def reference_of(arguments: Mapping[str, Any], spec: ToolSpec) -> str:
    """What a call is about, as a reference for people: the declared identity. What nobody has
    declared may hold anything: of the one argument that there is only the fingerprint is told.
    """
    if spec.identity is not None:
        parts = [arguments.get(name) for name in spec.identity]
        return "/".join(text for part in parts if (text := printable(part)))[:_LONGEST]
    known = [printable(value)[:_LONGEST] for value in kept_of(arguments, spec).values()]
    return undeclared(known[0]) if len(known) == 1 and known[0] else ""


def undeclared(text: str) -> str:
    """The reference of what is named by a text that nobody has declared to be an identity."""
    return f"{UNDECLARED}{digest(text)}"


def _without(arguments: Mapping[str, Any], *left_out: Iterable[str]) -> dict[str, Any]:
    names = frozenset().union(*left_out)
    return {name: value for name, value in arguments.items() if name not in names}
