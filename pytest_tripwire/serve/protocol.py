"""The Model Context Protocol for the offered tools. Loads the package `mcp`, an extra."""

from __future__ import annotations

import asyncio
from typing import Any

from pytest_tripwire.harness.ceiling import OverrunError
from pytest_tripwire.serve.offered import Answer, Offered

_MISSING = (
    "--mcp needs the package mcp, version 2 or later, which is not installed. Install it: "
    "pip install 'pytest-agent-tripwire[mcp]'"
)

#: Calls that may be under way at once; each waits in a thread of its own.
_SIDE_BY_SIDE = 100


class MissingExtraError(ImportError):
    """What serves the protocol is not installed."""


def check_installed() -> None:
    """See that the protocol can be served. Raises MissingExtraError with what to install."""
    try:
        import mcp_types
        from mcp.server.lowlevel.server import Server
    except ImportError as error:
        raise MissingExtraError(_MISSING) from error
    del mcp_types, Server


def server_for(offered: Offered) -> Any:
    """A server of the package's own, for any of its transports; made inside a running loop.

    Raises:
        MissingExtraError: without the package.
    """
    check_installed()
    from anyio import CapacityLimiter, to_thread

    from pytest_tripwire.adapters.mcp.serving import failed, server_of, succeeded, tool_of

    threads = CapacityLimiter(_SIDE_BY_SIDE)

    def tools() -> list[Any]:
        return [
            tool_of(each["name"], each["description"], each["parameters"])
            for each in offered.schemas()
        ]

    async def call(name: str, arguments: dict[str, Any]) -> Any:
        answer = await to_thread.run_sync(_called, offered, name, arguments, limiter=threads)
        return (failed if answer.failed else succeeded)(answer.text)

    return server_of(tools, call)


def _called(offered: Offered, name: str, arguments: dict[str, Any]) -> Answer:
    """One call. The end of the run's time ends no server: its clients have to be told."""
    try:
        return offered.call(name, arguments)
    except OverrunError as error:
        return Answer(text=str(error), failed=True)


def run_stdio(offered: Offered) -> None:
    """Speak over standard input and output until the other side hangs up. Blocks."""
    asyncio.run(_stdio(offered))


async def _stdio(offered: Offered) -> None:
    server = server_for(offered)
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
