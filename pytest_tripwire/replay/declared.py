"""What a trace declares about its tools, as the specs that a breaker takes.

A tool that reads in one step and writes in another, such as a shell, is two tools to the breaker
that share an operation: what a call may do is a fact about the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import Trace, TraceStep
from pytest_tripwire.timeline import Effect, ToolSpec

#: Hints whose name is not that of a field of `ToolSpec`.
_RENAMED = {"user_authorized_repeat": "repeatable"}
#: Hints that are a list of tools, or true for a tool.
_FLAGS = frozenset({"poll", "composite", "repeatable", "can_diagnose", "requires_approval"})
_FIELDS = frozenset(ToolSpec.__struct_fields__) - {"name", "effect"}
_TUPLES = frozenset(
    name
    for name, value in zip(
        ToolSpec.__struct_fields__[2:], ToolSpec.__struct_defaults__, strict=True
    )
    if value == () or name == "identity"
)


class Declared:
    """The specs of one trace's tools.

    Args:
        trace: whose hints count, if `settings` says so.
        settings: what a team declares besides; it outweighs the hints.
    """

    def __init__(self, trace: Trace, settings: Settings) -> None:
        self._hints = trace.hints if settings.hints else {}
        self._given = settings.specs
        self._specs: dict[tuple[str, Effect], ToolSpec] = {}
        self._names: dict[str, Effect] = {}

    def of(self, step: TraceStep) -> ToolSpec:
        """The spec of the tool that a step calls, as it is called there."""
        given = self._given.get(step.tool)
        effect = given.effect if given else step.effect or Effect.READ
        known = self._specs.get((step.tool, effect))
        if known is None:
            known = given or self._hinted(step.tool, effect)
            first = self._names.setdefault(step.tool, effect)
            if first is not effect:
                known = msgspec.structs.replace(
                    known, name=f"{step.tool} ({effect})", operation=known.kind
                )
            self._specs[step.tool, effect] = known
        return known

    def _hinted(self, tool: str, effect: Effect) -> ToolSpec:
        fields = dict(_fields(self._hints, tool))
        return ToolSpec(name=tool, effect=effect, **fields)


def _fields(hints: Mapping[str, Any], tool: str) -> list[tuple[str, Any]]:
    named = [(_RENAMED.get(name, name), value) for name, value in hints.items()]
    return [
        (name, _value(name, value, tool))
        for name, value in named
        if name in _FIELDS and _concerns(name, value, tool)
    ]


def _concerns(name: str, value: Any, tool: str) -> bool:
    if isinstance(value, Mapping):
        return tool in value and value[tool] is not None
    return name in _FLAGS and isinstance(value, list | tuple) and tool in value


def _value(name: str, value: Any, tool: str) -> Any:
    if name in _FLAGS:
        return bool(value[tool]) if isinstance(value, Mapping) else True
    said = value[tool]
    if name == "cost":
        return Decimal(str(said))
    if name in {"late_effect_s", "expected_duration_s"}:
        return float(said)
    if name in _TUPLES:
        return (said,) if isinstance(said, str) else tuple(said)
    if isinstance(said, list | tuple):
        return said[0] if said else None
    return said
