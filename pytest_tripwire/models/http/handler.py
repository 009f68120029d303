"""Reads one HTTP request, has it answered, and closes."""

from __future__ import annotations

import io
import socket
import time
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

from pytest_tripwire.models.http.messages import HttpReply, HttpRequest
from pytest_tripwire.models.http.sending import begin, send_parts, send_whole
from pytest_tripwire.models.http.transport import LOOPBACK, LoopbackServer
from pytest_tripwire.models.request_error import RequestError

#: Seconds and bytes spent on a body that nobody wants.
_LINGER_S = 2.0
_LINGER_BYTES = 256 * 1024 * 1024

_LENGTH_DIGITS = 15


class Handler(BaseHTTPRequestHandler):
    """One connection, one request."""

    server: LoopbackServer
    protocol_version = "HTTP/1.1"
    timeout = 30.0  # seconds that a client may be silent
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Answer a request with a body."""
        self._serve()

    def do_GET(self) -> None:
        """Answer a request without one."""
        self._serve()

    def do_HEAD(self) -> None:
        """Answer as for GET, without the response's body."""
        self._serve()

    def _serve(self) -> None:
        unread = True
        try:
            self._check_host()
            body = self._body() if self.command == "POST" else b""
            unread = self.command != "POST"
            reply = self.server.app.respond(self._request(body))
        except RequestError as error:
            reply = self.server.app.refuse(self._request(b""), error)
        self._send(reply)
        if unread:
            self._linger()

    def _request(self, body: bytes) -> HttpRequest:
        headers = {name.lower(): value for name, value in getattr(self, "headers", {}).items()}
        path = getattr(self, "path", "")
        return HttpRequest(method=self.command or "", path=path, headers=headers, body=body)

    def _check_host(self) -> None:
        # A web page whose name was rebound to 127.0.0.1 still sends its own name.
        names = [LOOPBACK, "localhost"]
        allowed = names + [f"{name}:{self.server.server_port}" for name in names]
        hosts = [host.strip().lower() for host in self.headers.get_all("Host", [])]
        if len(hosts) != 1 or hosts[0] not in allowed:
            raise RequestError(
                403,
                f"the Host header {', '.join(hosts) or '(none)'} is not this server's: "
                f"use the base URL http://{allowed[2]}",
            )

    def _body(self) -> bytes:
        length = self._length()
        try:
            body = self.rfile.read(length)
        except TimeoutError as error:
            message = f"the body stopped coming: send all {length} bytes of it"
            raise RequestError(408, message) from error
        if len(body) < length:
            message = f"the body has {len(body)} of {length} bytes: send what Content-Length says"
            raise RequestError(400, message)
        return body

    def _length(self) -> int:
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers or not lengths:
            message = "the body comes without a length: send Content-Length, and no chunks"
            raise RequestError(411, message)
        text = lengths[0].strip()
        if len(lengths) > 1 or not (text.isascii() and text.isdigit()):
            message = f"Content-Length {', '.join(lengths)} is not one number of bytes: send one"
            raise RequestError(400, message)
        most = self.server.app.max_body
        # The number of digits first: int() refuses thousands of them.
        if len(text) > _LENGTH_DIGITS or int(text) > most:
            message = f"the body has more than {most} bytes: send less, or raise max_body"
            raise RequestError(413, message)
        return int(text)

    def _send(self, reply: HttpReply) -> None:
        self.close_connection = True
        # Real time, as the client's time-outs are; a server that stops keeps nobody waiting.
        if reply.delivery.delay and self.server.stopped.wait(reply.delivery.delay):
            return
        if reply.delivery.drop:
            return
        if self.request_version == "HTTP/1.0":
            reply = reply.in_one()
        # In one piece: a client that is woken by the head alone only waits again.
        wire, self.wfile = self.wfile, io.BytesIO()
        begin(self, reply)
        if self.command != "HEAD":
            self._write(reply)
        wire.write(self.wfile.getvalue())
        self.wfile = wire

    def _write(self, reply: HttpReply) -> None:
        if reply.parts is None:
            send_whole(self.wfile, reply.body, reply.delivery.cut)
        else:
            send_parts(self.wfile, reply.parts, reply.delivery.cut)

    def _linger(self) -> None:
        # Closing on unread bytes resets the connection, and the client loses the response.
        end, left = time.monotonic() + _LINGER_S, _LINGER_BYTES
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(_LINGER_S)
            while left > 0 and time.monotonic() < end and (data := self.connection.recv(65536)):
                left -= len(data)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Turn down what the base class could not read, in the provider's shape."""
        # The base class blames the server for what the client did wrong.
        status = code if code < HTTPStatus.INTERNAL_SERVER_ERROR else HTTPStatus.BAD_REQUEST
        if code == HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        what = message or explain or "the request could not be read"
        error = RequestError(status, f"{what}: send a GET or POST request of HTTP/1.1")
        # What could not be read passes for HTTP/0.9, whose responses have no headers.
        self.request_version = self.protocol_version
        self._send(self.server.app.refuse(self._request(b""), error))
        self._linger()

    def version_string(self) -> str:
        """The Server header."""
        return "pytest-agent-tripwire"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Write nothing: a test's output belongs to the test."""
