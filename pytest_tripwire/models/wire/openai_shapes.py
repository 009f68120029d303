"""What all of OpenAI's protocols share: errors, the list of models, choices of tools."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from pytest_tripwire.models.choice import AUTO, Choice
from pytest_tripwire.models.request_error import RequestError

#: The key that agents are told to send; any other does as well.
API_KEY = "tripwire"
#: The one model that is served, as agents are told to call it; any other name does as well.
MODEL = "tripwire-scripted"

#: Seconds since 1970, the start of 2026: a real time would make two equal runs differ.
CREATED = 1_767_225_600

#: Types of errors by status; what is not here is the request's own fault, or the server's.
_KINDS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}
_CODES: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "invalid_api_key",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_exceeded",
}


def error_body(error: RequestError) -> dict[str, Any]:
    """The body of an error response."""
    ours = error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    kind = _KINDS.get(error.status, "server_error" if ours else "invalid_request_error")
    code = error.code or _CODES.get(error.status)
    details = {"message": error.message, "type": kind, "param": error.param, "code": code}
    return {"error": details}


def models_body() -> list[dict[str, Any]]:
    """The models that there are."""
    owner = "pytest-agent-tripwire"
    return [{"id": MODEL, "object": "model", "created": CREATED, "owned_by": owner}]


def listed(models: list[dict[str, Any]]) -> dict[str, Any]:
    """The body of `GET /v1/models`."""
    return {"object": "list", "data": models}


def choice(given: str | Mapping[str, Any] | None) -> Choice:
    """What a request's `tool_choice` lets the model call. Raises `RequestError` for none that
    there is.
    """
    if given is None or given == "auto":
        return AUTO
    if given in ("none", "required"):
        return Choice(kind="none" if given == "none" else "required")
    if isinstance(given, Mapping):
        if given.get("type") == "allowed_tools":
            inner = given.get("allowed_tools", given)
            return choice(inner.get("mode", "auto") if isinstance(inner, Mapping) else None)
        # Chat Completions wraps the name, Responses does not.
        inner = given.get("function", given)
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if isinstance(name, str) and name:
            return Choice(kind="tool", tool=name)
    raise RequestError(
        400,
        "tool_choice is none that there is: write auto, none, required, or name a function",
        param="tool_choice",
    )


def allowed(given: str | Mapping[str, Any] | None) -> frozenset[str] | None:
    """The tools that a request's `tool_choice` leaves of those offered; None for all."""
    if not isinstance(given, Mapping) or given.get("type") != "allowed_tools":
        return None
    inner = given.get("allowed_tools", given)
    tools = inner.get("tools", []) if isinstance(inner, Mapping) else []
    shapes = [each.get("function", each) for each in tools if isinstance(each, Mapping)]
    return frozenset(str(each.get("name")) for each in shapes if isinstance(each, Mapping))
