"""A tool as an agent sees it: name, description, parameters, signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import msgspec

from pytest_tripwire.world.schema.signature import parameters, summary


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent sees of a tool.

    Args:
        name: its name.
        description: what it is for.
        parameters: JSON schema of its arguments.
        signature: the same for Python.
        doc: its docstring.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    signature: inspect.Signature
    doc: str

    def as_schema(self) -> dict[str, Any]:
        """Name, description and parameters."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }


def shape_of(tool: Callable[..., Any] | Mapping[str, Any]) -> Shape:
    """The shape of a callable, or of a tool definition as providers take it: OpenAI's (with or
    without the `function` wrapper) or Anthropic's (`input_schema`).

    Raises:
        ValueError: for a definition without a name.
    """
    if isinstance(tool, Mapping):
        return _from_schema(tool)
    return Shape(
        name=tool.__name__,
        description=summary(tool),
        parameters=parameters(tool),
        signature=inspect.signature(tool),
        doc=inspect.getdoc(tool) or "",
    )


def name_of(tool: Callable[..., Any] | Mapping[str, Any]) -> str:
    """The name in the shape of a tool, without reading a callable's annotations for the rest of it.
    Raises as `shape_of`.
    """
    if isinstance(tool, Mapping):
        return _from_schema(tool).name
    if not isinstance(tool, FunctionType) or tool.__dict__:
        inspect.signature(tool)  # of a plain function it cannot fail, and takes its time
    return str(tool.__name__)


def _from_schema(definition: Mapping[str, Any]) -> Shape:
    body = definition.get("function", definition)
    name = body.get("name") if isinstance(body, Mapping) else None
    if not isinstance(name, str) or not name:
        raise ValueError(f"a tool definition needs a name, and {dict(definition)!r} has none")
    schema = body.get("parameters") or body.get("input_schema") or {"type": "object"}
    description = str(body.get("description") or name)
    return Shape(
        name=name,
        description=description,
        parameters=dict(schema),
        signature=_signature(schema),
        doc=description,
    )


def _signature(schema: Mapping[str, Any]) -> inspect.Signature:
    required = set(schema.get("required", ()))
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if name in required else None,
        )
        for name in schema.get("properties", {})
    ]
    return inspect.Signature(parameters)
