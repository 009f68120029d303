"""Where the Model Context Protocol is served: over HTTP on this machine, or over this process's own
standard input and output. Each in a thread of its own, which ends with the process.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable
from typing import Any, Protocol

from pytest_tripwire.models.http.transport import LOOPBACK, taken
from pytest_tripwire.serve import protocol
from pytest_tripwire.serve.offered import Offered

PATH = "/mcp"

#: Real seconds that clients get to hang up; most have done so.
_CLOSING_S = 1.0
_JOIN_S = 5.0
_WAITING = 128


class Endpoint(Protocol):
    """One way to the offered tools."""

    @property
    def url(self) -> str | None:
        """Where it is, if it has an address."""

    def start(self) -> None:
        """Serve from now on."""

    def close(self) -> None:
        """Serve no longer."""


class Nowhere:
    """No way to the tools."""

    url: str | None = None

    def start(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class OverStdio:
    """Speaks with whoever has started this process.

    Args:
        offered: the tools.
        closed: told when the other side has hung up.
    """

    url: str | None = None

    def __init__(self, offered: Offered, closed: Callable[[], None]) -> None:
        self._offered, self._closed = offered, closed

    def start(self) -> None:
        """Serve from now on."""
        # A daemon: nothing ends a thread that reads from a pipe, and the process has to.
        threading.Thread(target=self._run, name="tripwire-mcp", daemon=True).start()

    def _run(self) -> None:
        try:
            protocol.run_stdio(self._offered)
        finally:
            self._closed()

    def close(self) -> None:
        """Do nothing: the other side hangs up, or the process ends."""


class OverHttp:
    """Serves streamable HTTP on 127.0.0.1, for requests that name it so: a web page whose name was
    rebound to this machine sends its own.

    Args:
        offered: the tools.
        port: the port; 0 for a free one.

    Raises:
        PortError: if the port is taken.
    """

    def __init__(self, offered: Offered, port: int = 0) -> None:
        self._offered = offered
        self._socket = _listening(port)
        self._server: Any = None
        self._thread = threading.Thread(target=self._run, name="tripwire-mcp", daemon=True)

    @property
    def url(self) -> str:
        """Where it is. Whoever connects before `start` waits."""
        return f"http://{LOOPBACK}:{self._socket.getsockname()[1]}{PATH}"

    def start(self) -> None:
        """Serve from now on."""
        import uvicorn

        settings = uvicorn.Config(
            self._application,
            factory=True,
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(settings)
        self._thread.start()

    def close(self) -> None:
        """Serve no longer; who is still connected is cut off."""
        if self._server is not None:
            self._server.should_exit = True
            self._thread.join(_CLOSING_S)
            self._server.force_exit = True
            self._thread.join(_JOIN_S)
        self._socket.close()

    def _application(self) -> Any:
        return protocol.server_for(self._offered).streamable_http_app(
            streamable_http_path=PATH, host=LOOPBACK
        )

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        listening.close()
        raise taken(port, error) from None
    listening.listen(_WAITING)
    return listening
