"""One request and its response, apart from any library's own types."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

Headers = Mapping[str, tuple[str, ...]]


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """A request: its headers by name as they were written, its body as bytes."""

    method: str
    uri: str
    headers: Headers = {}
    body: bytes = b""

    def header(self, name: str) -> str:
        """The value of a header, empty if there is none."""
        return header(self.headers, name)


class Got(msgspec.Struct, frozen=True, kw_only=True):
    """A response."""

    status: int
    reason: str = ""
    headers: Headers = {}
    body: bytes = b""

    def header(self, name: str) -> str:
        """The value of a header, empty if there is none."""
        return header(self.headers, name)


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """A request and what it was answered."""

    sent: Sent
    got: Got


def header(headers: Headers, name: str) -> str:
    """The values of a header, whatever the case of its name; empty if there is none."""
    found = [value for key, values in headers.items() if key.lower() == name for value in values]
    return ", ".join(found)
