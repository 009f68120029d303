"""The Model Context Protocol: sessions of clients, and servers.

Production, with a run of a `Breaker`:

    session = guarded_session(client, run)  # in place of the client's session, or the client

    server = MCPServer("shop", middleware=[ServerMiddleware(breaker)])

`tools` and `adopt` are what `task.tools.mcp()` and `task.adopt` are made of.
"""

from pytest_tripwire.adapters.mcp.client import GuardedSession, guarded_session
from pytest_tripwire.adapters.mcp.hints import effect_of, spec_of_tool
from pytest_tripwire.adapters.mcp.middleware import ServerMiddleware
from pytest_tripwire.adapters.mcp.native import adopt, definition, tools
from pytest_tripwire.adapters.mcp.runs import RunPerSession
from pytest_tripwire.adapters.mcp.serving import failed, server_of, succeeded

__all__ = [
    "GuardedSession",
    "RunPerSession",
    "ServerMiddleware",
    "adopt",
    "definition",
    "effect_of",
    "failed",
    "guarded_session",
    "server_of",
    "spec_of_tool",
    "succeeded",
    "tools",
]
