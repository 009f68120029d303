"""A server of the Model Context Protocol in a process of its own, for `test_mcp_transports.py`:

    python mcp_till.py stdio|http|stateless JOURNAL [plain]

It writes what it has done, a word and a name each, into the journal. `plain`: it asks nobody first.
Over HTTP it prints its address.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context  # noqa: TC002 - the server reads the annotations
from mcp_types import ToolAnnotations

from pytest_tripwire.adapters.mcp import RunPerSession, ServerMiddleware
from pytest_tripwire.breaker import Breaker
from pytest_tripwire.timeline import Effect, ToolSpec

READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(destructive_hint=True)
SPECS = {"lose": ToolSpec(name="lose", effect=Effect.WRITE, identity=("invoice",))}


def main(way: str, journal: Path, *options: str) -> None:
    """Serve until nobody is there any more, or the process is ended."""

    def note(what: str, name: object) -> None:
        with journal.open("a", encoding="utf-8") as lines:
            lines.write(f"{what} {name}\n")

    runs = RunPerSession(
        Breaker(), piece_of=piece_of, told=lambda record: note("stopped", record.reason)
    )
    server = MCPServer("till")
    if "plain" not in options:
        server.middleware.append(ServerMiddleware(runs, SPECS))

    @server.tool(annotations=READS)
    def find(invoice: str) -> dict[str, Any]:
        """Look an invoice up."""
        note("find", invoice)
        return {"invoice": invoice, "open": True}

    @server.tool(annotations=WRITES)
    def pay(invoice: str) -> dict[str, Any]:
        """Pay an invoice."""
        note("pay", invoice)
        return {"payment_id": f"P-{invoice}"}

    @server.tool(annotations=WRITES)
    def lose(invoice: str) -> None:
        """Pay an invoice, and lose the answer."""
        note("lose", invoice)
        raise TimeoutError

    @server.tool(annotations=WRITES)
    async def hang(invoice: str, context: Context) -> None:
        """Pay an invoice, say so, and never answer."""
        note("hang", invoice)
        await context.report_progress(1)
        await asyncio.Event().wait()

    @server.tool(annotations=WRITES)
    def die(invoice: str) -> None:
        """Pay an invoice, and end the process."""
        note("die", invoice)
        os._exit(3)

    try:
        if way == "stdio":
            server.run("stdio")
        else:
            serve(server.streamable_http_app(stateless_http=way == "stateless"))
    finally:
        runs.close()


def piece_of(context: Any) -> str:
    """What a request belongs to, where it says so."""
    return str((context.meta or {}).get("shop.example/task", ""))


def serve(application: Any) -> None:
    """Serve over HTTP, on a free port of this machine."""
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)  # noqa: T201
    config = uvicorn.Config(application, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
