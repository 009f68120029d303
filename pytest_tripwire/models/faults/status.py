"""The provider answers with an error."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_tripwire.models.faults.fault import ModelFault, is_count
from pytest_tripwire.models.request_error import RequestError

#: Of the statuses that HTTP has for errors.
_FIRST, _LAST = 400, 599


class Status(ModelFault, frozen=True, kw_only=True, tag="status"):
    """An error response in the provider's shape.

    Args:
        status: HTTP status, such as 429, 500 or 529.
        headers: what the response carries besides, such as `{"retry-after": "1"}`.
        message: what it says.
        code: the provider's own word for it, such as `insufficient_quota`.
    """

    status: int = 500
    headers: Mapping[str, str] = {}
    message: str = "the server had an error while it worked on the request"
    code: str | None = None

    def __post_init__(self) -> None:
        """Look at the fields."""
        super().__post_init__()
        self._demand(
            f"status={self.status!r}: give an error of HTTP, 400 to 599",
            sound=is_count(self.status, _FIRST) and self.status <= _LAST,
        )

    def error(self) -> RequestError | None:
        """The error response in place of an answer."""
        return RequestError(
            self.status, self.message, code=self.code, headers=self.headers, final=False
        )
