"""The provider answers with an error."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_tripwire.models.faults.fault import ModelFault
from pytest_tripwire.models.request_error import RequestError


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

    def error(self) -> RequestError | None:
        """The error response in place of an answer."""
        return RequestError(
            self.status, self.message, code=self.code, headers=self.headers, final=False
        )
