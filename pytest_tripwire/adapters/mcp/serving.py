"""A server for tools that are called elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server

from pytest_tripwire import __version__

#: What a server lists: its tools as the protocol has them.
Listed = Callable[[], Sequence[Any]]
#: Calls a tool, and gives the protocol's result.
Called = Callable[[str, dict[str, Any]], Awaitable[Any]]


def server_of(listed: Listed, called: Called, **about: Any) -> Any:
    """A server of the protocol's own package, for any of its transports.

    Args:
        listed: gives the tools, anew for each listing.
        called: calls one.
        about: what else the server says of itself, such as `instructions`.
    """

    async def tools(_context: Any, _params: Any) -> Any:
        return types.ListToolsResult(tools=list(listed()))

    async def call(_context: Any, params: Any) -> Any:
        return await called(params.name, params.arguments or {})

    about = {"name": "tripwire", "version": __version__, **about}
    return Server(about.pop("name"), **about, on_list_tools=tools, on_call_tool=call)


def tool_of(name: str, description: str, parameters: Mapping[str, Any]) -> Any:
    """A tool as a server lists it."""
    return types.Tool(name=name, description=description, input_schema=dict(parameters))


def succeeded(text: str) -> Any:
    """The result of a call."""
    return _result(text, is_error=False)


def failed(text: str) -> Any:
    """The result of a call that came to nothing; what it says is for the model."""
    return _result(text, is_error=True)


def _result(text: str, *, is_error: bool) -> Any:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )
