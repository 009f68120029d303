"""One HTTP request, and one response, as values."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pytest_tripwire.models.faults import Delivery
from pytest_tripwire.models.faults.fault import WHOLE

JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"

#: How the SDKs of OpenAI and Anthropic count the tries of one request.
RETRIES = "x-stainless-retry-count"


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request.

    Args:
        method: its verb.
        path: its path, with what is asked for behind a question mark.
        headers: by name in lower case.
        body: empty for a request without one.
    """

    method: str
    path: str
    headers: Mapping[str, str] = {}
    body: bytes = b""

    @property
    def place(self) -> str:
        """The path alone."""
        return self.path.partition("?")[0].rstrip("/") or "/"

    @property
    def retry(self) -> bool:
        """Whether the client says that it sends the request again. Only it knows: an agent that
        begins its conversation anew sends the same.
        """
        return self.headers.get(RETRIES, "0").strip() not in ("", "0")


class HttpReply(msgspec.Struct, frozen=True, kw_only=True):
    """A response.

    Args:
        status: HTTP status.
        body: all of it; for a stream the parts are in `parts`.
        parts: the parts of a stream, None for a response that is none.
        headers: what it carries besides.
        delivery: how it gets to the client.
    """

    status: int
    body: bytes = b""
    parts: tuple[bytes, ...] | None = None
    headers: Mapping[str, str] = {}
    delivery: Delivery = WHOLE

    def in_one(self) -> HttpReply:
        """The same for a client that knows no chunks, such as some proxies: a stream by its length,
        so that it still notices where one is cut.
        """
        if self.parts is None:
            return self
        headers = {"Content-Type": EVENTS, **self.headers}
        return msgspec.structs.replace(self, body=b"".join(self.parts), parts=None, headers=headers)
