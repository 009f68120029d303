"""Putting a hint to a result without changing what it is."""

from __future__ import annotations

from typing import Any

#: Field of a mapping that carries the hint.
FIELD = "tripwire_hint"


def with_hint(result: Any, hint: str | None) -> Any:
    """`result` with the hint in it, where its kind has room for one: the payload that is known
    already stays, as an answer without data starts loops of its own.
    """
    if hint is None:
        return result
    if isinstance(result, dict) and FIELD not in result:
        return {**result, FIELD: hint}
    if isinstance(result, str) and not result.lstrip().startswith(("{", "[")):
        return f"{result}\n\n[{hint}]"
    return result
