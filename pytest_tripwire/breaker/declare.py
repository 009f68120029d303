"""Declaring a tool beside its definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pytest_tripwire.timeline import Effect, ToolSpec, parse_effect
from pytest_tripwire.timeline.spec import ATTRIBUTE

F = TypeVar("F", bound=Callable[..., Any])


def tool_spec(
    *, effect: Effect | str, name: str | None = None, **declared: Any
) -> Callable[[F], F]:
    """Declare what a tool does: `@tool_spec(effect="write", identity=("order_id",))`.

    Args:
        effect: `read`, `write` or `handoff`.
        name: the name under which the model calls it; by default the function's own.
        **declared: any other field of `ToolSpec`.

    Raises:
        ValueError: for an effect that does not exist.
        TypeError: for a field that `ToolSpec` does not have.
    """
    kind = parse_effect(effect)

    def mark(tool: F) -> F:
        spec = ToolSpec(name=name or tool.__name__, effect=kind, **declared)
        setattr(tool, ATTRIBUTE, spec)
        return tool

    return mark
