"""What all of OpenAI's protocols share: errors and the list of models."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from pytest_tripwire.models.request_error import RequestError

MODEL = "scripted-model"

#: Seconds since 1970, the start of 2026: a real time would make two equal runs differ.
CREATED = 1_767_225_600


def error_body(error: RequestError) -> dict[str, Any]:
    """The body of an error response."""
    ours = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = "server_error" if ours else "invalid_request_error"
    details = {"message": error.message, "type": kind, "param": error.param, "code": error.code}
    return {"error": details}


def models_body() -> dict[str, Any]:
    """The body of `GET /v1/models`."""
    model = {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "pytest-tripwire"}
    return {"object": "list", "data": [model]}
