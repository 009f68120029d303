"""Handing a tool the breaker's own idempotency key, whatever a model has put in its place."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

_REST = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def takes_key(signature: inspect.Signature | None, name: str) -> bool:
    """Whether a tool takes an argument of this name, as far as its signature tells."""
    if signature is None or _is_named(signature, name):
        return True
    kinds = {each.kind for each in signature.parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def keyed(
    signature: inspect.Signature | None,
    args: tuple[Any, ...],
    arguments: Mapping[str, Any],
    name: str,
    key: str,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with `key` as the one called `name`, instead of what is there."""
    rest = {each: value for each, value in arguments.items() if each != name}
    if signature is None or not _is_named(signature, name):
        return args, {**rest, name: key}
    try:
        bound = signature.bind_partial(*args, **rest)
    except TypeError:
        return args, {**rest, name: key}  # binding it in full will say what is wrong
    bound.arguments[name] = key
    return bound.args, bound.kwargs


def _is_named(signature: inspect.Signature, name: str) -> bool:
    parameter = signature.parameters.get(name)
    return parameter is not None and parameter.kind not in _REST
