"""The loopback HTTP server below the model server. Knows HTTP, nothing of models."""

from __future__ import annotations

import selectors
import socket
import socketserver
import sys
import threading
from contextlib import suppress
from http.server import ThreadingHTTPServer
from typing import Any, Protocol

from pytest_tripwire.models.http.messages import HttpReply, HttpRequest
from pytest_tripwire.models.request_error import RequestError

LOOPBACK = "127.0.0.1"


class App(Protocol):
    """What answers the requests. Called from many threads at once."""

    @property
    def max_body(self) -> int:
        """Bytes that the body of a request may have."""

    def respond(self, request: HttpRequest) -> HttpReply:
        """Answer a request. Raises `RequestError` to turn it down."""

    def refuse(self, request: HttpRequest, error: RequestError) -> HttpReply:
        """The response for a request that was turned down; its body may not have been read."""

    def crashed(self, error: BaseException) -> None:
        """Remember an error that no response could tell."""


class PortError(OSError):
    """A port cannot be had."""


def taken(port: int, error: OSError) -> PortError:
    """What to say of a port that cannot be had."""
    return PortError(
        f"port {port} of {LOOPBACK} cannot be had ({error.strerror}): name another one, or none to "
        "get a free one"
    )


class LoopbackServer(ThreadingHTTPServer):
    """Listens on 127.0.0.1, and answers each connection in its own thread.

    Args:
        app: what answers.
        handler: reads the requests.
        port: where to listen; 0 for a free port.

    Raises:
        PortError: somebody else has the port.
    """

    allow_reuse_port = False  # two servers on one port would share its clients by chance
    daemon_threads = True
    block_on_close = False
    #: More than any test opens at once: who finds the queue full waits for a second or longer.
    request_queue_size = 1024

    def __init__(
        self, app: App, handler: type[socketserver.BaseRequestHandler], port: int = 0
    ) -> None:
        self.app = app
        self._open: set[Any] = set()
        self._lock = threading.Lock()
        #: Set when the server stops, so that nobody waits longer.
        self.stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._woken, self._waker = socket.socketpair()
        try:
            super().__init__((LOOPBACK, port), handler)
        except OSError as error:
            raise taken(port, error) from None

    def server_bind(self) -> None:
        """Bind without the base class's look-up of the host's name, which may take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = LOOPBACK, self.server_address[1]

    def run_in_thread(self) -> None:
        """Serve until `close`."""
        name = f"tripwire-model-{self.server_port}"
        self._thread = threading.Thread(target=self._accept, name=name, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        # The base class looks every now and then whether it is to stop, and who stops it waits
        # for its next look: here it is woken.
        with selectors.DefaultSelector() as ready:
            for each in (self.socket, self._woken):
                ready.register(each, selectors.EVENT_READ)
            while not self.stopped.is_set():
                ready.select()
                if not self.stopped.is_set():
                    self._handle_request_noblock()  # type: ignore[attr-defined]

    def close(self) -> None:
        """Stop, and cut what clients still hold open."""
        self.stopped.set()
        self._waker.close()
        if self._thread is not None:
            self._thread.join()
        self.server_close()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def server_close(self) -> None:
        """Give back the port."""
        super().server_close()
        self._woken.close()
        self._waker.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        """Hand on what broke a thread; a client that hung up is nobody's error."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError | TimeoutError):
            self.app.crashed(error)
