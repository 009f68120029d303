"""What a proposed call is about, without what the model mints anew for every attempt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.timeline import DEFAULT_VOLATILE, Effect, ToolCall, ToolSpec

#: Characters of a reference.
_LONGEST = 200


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
    named = spec.identity or ()  # in the resource already, whatever this tool calls it
    meant = _without(call.arguments, DEFAULT_VOLATILE, spec.volatile, spec.wording, named)
    if spec.effect is Effect.HANDOFF and spec.required_fields:
        meant = {name: meant[name] for name in spec.required_fields if name in meant}
    resource = digest((tenant, spec.kind, identity_of(call.arguments, spec)))
    said = _without(call.arguments, DEFAULT_VOLATILE, spec.volatile)
    return Intent(
        resource=resource,
        digest=digest((resource, meant)),
        exact=digest((resource, said)),
        content=digest(meant),
    )


def identity_of(arguments: Mapping[str, Any], spec: ToolSpec) -> Any:
    """What is acted on: the declared identity by position, so that the tools of one operation
    may name it differently; undeclared, every argument that is neither nonce nor wording.
    """
    if spec.identity is None:
        return _without(arguments, DEFAULT_VOLATILE, spec.volatile, spec.wording)
    return tuple(arguments.get(name) for name in spec.identity)


def reference_of(arguments: Mapping[str, Any], spec: ToolSpec) -> str:
    """What a call is about, as a reference for people. Only an identity that is declared as such
    is shown, as any other argument may hold anything.
    """
    if spec.identity is None:
        return ""
    parts = [arguments.get(name) for name in spec.identity]
    return "/".join(str(part) for part in parts if isinstance(part, str | int))[:_LONGEST]


def _without(arguments: Mapping[str, Any], *left_out: Iterable[str]) -> dict[str, Any]:
    names = frozenset().union(*left_out)
    return {name: value for name, value in arguments.items() if name not in names}
