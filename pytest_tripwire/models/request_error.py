"""A request that gets an error response."""

from __future__ import annotations

from collections.abc import Mapping


class RequestError(Exception):
    """Turns a request down.

    Args:
        status: HTTP status.
        message: what is wrong, where, and what to do.
        param: the part of the request that is wrong, where there is one.
        code: the provider's own word for it, where there is one.
        headers: what the response carries besides.
        final: whether the same request would get the same error again, so that a client which
            tries once more only loses time.
        delay: real seconds before the client hears of it.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        param: str | None = None,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
        final: bool = True,
        delay: float = 0.0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
        self.headers = dict(headers or {})
        self.final = final
        self.delay = delay
