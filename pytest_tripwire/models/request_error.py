"""A request that gets an error response."""

from __future__ import annotations


class RequestError(Exception):
    """Turns a request down.

    Args:
        status: HTTP status.
        message: what is wrong, where, and what to do.
        param: the part of the request that is wrong, where there is one.
        code: the provider's own word for it, where there is one.
    """

    def __init__(
        self, status: int, message: str, *, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.param = param
        self.code = code
