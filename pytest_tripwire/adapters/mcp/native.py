"""A server made of a caller: for `task.tools.mcp()` and `task.adopt`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mcp import Client
from mcp.server import MCPServer, Server

from pytest_tripwire.adapters.adoption import Adoption, Described
from pytest_tripwire.adapters.bridge import Caller, as_text
from pytest_tripwire.adapters.mcp.serving import failed, server_of, succeeded, tool_of


def tools(caller: Caller, described: Sequence[Described]) -> Any:
    """A server whose tools call `caller`: `async with mcp.Client(server) as client:`."""
    listed = [tool_of(each.name, each.description, each.parameters) for each in described]
    return _served(caller, listed)


def adopt(agent: Any, adoption: Adoption) -> Any:
    """A server with the tools of another, whose bodies call the adoption's caller. Resources and
    prompts are not taken over.

    Args:
        agent: an `MCPServer`, or a low-level `Server`.
        adoption: has the bodies.

    Raises:
        TypeError: it is no server.
    """
    if not isinstance(agent, MCPServer | Server):
        raise TypeError(
            f"task.adopt() got a {type(agent).__name__} of mcp: give the server, and connect a "
            "client to what you get: mcp.Client(task.adopt(server))"
        )
    listed = _at_once(agent)
    for tool in listed:
        adoption.need(tool.name, agent.name)
    return _served(adoption.caller, listed, name=agent.name, instructions=agent.instructions)


def definition(tool: Any) -> dict[str, Any]:
    """Name, description and parameters of a tool, as it is listed or as `MCPServer` keeps it."""
    schema = getattr(tool, "input_schema", None) or getattr(tool, "parameters", None)
    return {
        "name": tool.name,
        "description": tool.description or "",
        "parameters": dict(schema or {"type": "object", "properties": {}}),
    }


def _served(caller: Caller, listed: Sequence[Any], **about: Any) -> Any:
    names = {each.name for each in listed}

    async def called(name: str, arguments: dict[str, Any]) -> Any:
        if name not in names:
            return failed(f"Unknown tool: {name}")
        try:
            result = await caller.acall(name, arguments)
        except Exception:  # noqa: BLE001 - as a server of the package does it
            return failed(f"Error executing tool {name}")
        return succeeded(as_text(result))

    # A result of the world has not the structure that a schema of the team's may ask for.
    shown = [each.model_copy(update={"output_schema": None}) for each in listed]
    return server_of(lambda: shown, called, **about)


def _at_once(server: Any) -> list[Any]:
    """The tools of a server. They are listed by a coroutine, and whoever takes a server over may be
    inside a loop: it is run in a loop of its own.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, _listed(server)).result()


async def _listed(server: Any) -> list[Any]:
    if isinstance(server, MCPServer):
        return list(await server.list_tools())
    found: list[Any] = []
    async with Client(server) as client:
        cursor = None
        while True:
            page = await client.list_tools(cursor=cursor)
            found += page.tools
            cursor = page.next_cursor
            if not cursor:
                return found
