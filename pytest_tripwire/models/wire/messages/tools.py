"""Reads the tools that a request offers, and what it lets the model do with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from pytest_tripwire.models.choice import AUTO, Choice
from pytest_tripwire.models.request_error import RequestError


class Tool(msgspec.Struct):
    """A tool. One with another type than `custom` is the provider's own: the scripted model, which
    has neither a browser nor the web, is not offered it.
    """

    type: str | None = None
    name: str | None = None
    input_schema: dict[str, Any] | None = None


class ToolChoice(msgspec.Struct):
    """What a request lets the model call, in the provider's words."""

    type: Literal["auto", "any", "tool", "none"]
    name: str | None = None
    disable_parallel_tool_use: bool | None = None

    def neutral(self) -> Choice:
        """The same in neutral terms. Raises `RequestError` for a tool without a name."""
        match self.type:
            case "auto":
                return AUTO
            case "any":
                return Choice(kind="required")
            case "none":
                return Choice(kind="none")
        if not self.name:
            raise RequestError(400, "tool_choice names no tool: give its `name`, or use type any")
        return Choice(kind="tool", tool=self.name)


def parameters(tools: Iterable[Tool]) -> dict[str, dict[str, Any]]:
    """JSON schema of each tool's arguments that the model may call, by name.

    Raises:
        RequestError: a tool lacks what the provider asks for.
    """
    return {name: schema for tool in tools for name, schema in _offered(tool)}


def _offered(tool: Tool) -> list[tuple[str, dict[str, Any]]]:
    if tool.type == "function":
        raise RequestError(
            400,
            "`tools` are in OpenAI's form: offer each one as `name`, `description` and "
            "`input_schema`",
        )
    if tool.type not in (None, "custom"):
        return []
    if not tool.name or tool.input_schema is None:
        raise RequestError(400, f"the tool {tool.name!r} lacks its `name` or `input_schema`")
    return [(tool.name, tool.input_schema)]
