"""Writes one response to a socket."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from io import BufferedIOBase
from typing import Protocol

from pytest_tripwire.models.http.messages import EVENTS, JSON, HttpReply

_END = b"0\r\n\r\n"


class Headers(Protocol):
    """What of a request handler writes a response's head."""

    def send_response(self, code: int) -> None:
        """Write the status."""

    def send_header(self, keyword: str, value: str) -> None:
        """Write one header."""

    def end_headers(self) -> None:
        """Write the end of the head."""


def begin(handler: Headers, reply: HttpReply) -> None:
    """Write the head of a response."""
    handler.send_response(reply.status)
    for name, value in {**_own(reply), **reply.headers}.items():
        handler.send_header(name, value)
    handler.end_headers()


def _own(reply: HttpReply) -> dict[str, str]:
    # Frameworks keep clients for a base URL across event loops; a connection that is kept open
    # would belong to a loop that has ended.
    head = {"Content-Type": JSON, "Connection": "close"}
    if reply.parts is None:
        return {**head, "Content-Length": str(len(reply.body))}
    stream = {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache"}
    return {**head, **stream, "Content-Type": EVENTS if reply.status == HTTPStatus.OK else JSON}


def send_whole(file: BufferedIOBase, body: bytes, cut: int | None) -> None:
    """Write a body; half of it when it is to be cut."""
    file.write(body if cut is None else body[: len(body) // 2])


def send_parts(file: BufferedIOBase, parts: Sequence[bytes], cut: int | None) -> None:
    """Write a stream in HTTP's chunks; without its end when it is to be cut. Without the last
    chunk a client knows that something is missing.
    """
    file.writelines(b"%x\r\n%b\r\n" % (len(part), part) for part in parts[:cut])
    if cut is None:
        file.write(_END)
