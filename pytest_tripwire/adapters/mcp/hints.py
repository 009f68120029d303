"""What a tool says about its own effect."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect, ToolSpec

_ABOUT_EFFECT = ("read_only_hint", "destructive_hint", "idempotent_hint")


def effect_of(annotations: Any) -> Effect | None:
    """The effect that a tool's annotations declare: a read where they say so, a write where they
    speak of effects at all, and nothing where they do not.
    """
    said = [getattr(annotations, name, None) for name in _ABOUT_EFFECT]
    if said[0] is True:
        return Effect.READ
    return None if all(each is None for each in said) else Effect.WRITE


def spec_of_tool(tool: Any) -> ToolSpec | None:
    """What a listed tool declares of itself; None for nothing. It is the server's word: take that
    of a server that you trust.
    """
    effect = effect_of(tool.annotations)
    return None if effect is None else ToolSpec(name=tool.name, effect=effect)
