"""What is Anthropic's own beside messages: errors, and the list of models."""

from __future__ import annotations

from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.wire.openai_shapes import CREATED, MODEL

#: The provider's own status, for times when too many ask.
_OVERLOADED = 529

#: Types of errors by status; what is not here is the request's own fault, or the server's.
_KINDS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.PAYMENT_REQUIRED: "billing_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.NOT_FOUND: "not_found_error",
    HTTPStatus.CONFLICT: "conflict_error",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "request_too_large",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
    HTTPStatus.GATEWAY_TIMEOUT: "timeout_error",
    _OVERLOADED: "overloaded_error",
}


def error_body(error: RequestError) -> dict[str, Any]:
    """The body of an error response."""
    ours = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = _KINDS.get(error.status, "api_error" if ours else "invalid_request_error")
    said: dict[str, Any] = {"type": kind, "message": error.message}
    if error.code:
        said["details"] = {"error_code": error.code}
    return {"type": "error", "error": said, "request_id": None}


def models_body() -> list[dict[str, Any]]:
    """The models that there are."""
    created = datetime.fromtimestamp(CREATED, UTC).isoformat()
    model = {
        "type": "model",
        "id": MODEL,
        "display_name": "Scripted model",
        "created_at": created.replace("+00:00", "Z"),
        "lifecycle": "active",
    }
    return [model]


def listed(models: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of `GET /v1/models`."""
    first, last = models[0]["id"], models[-1]["id"]
    return {"data": models, "has_more": False, "first_id": first, "last_id": last}
