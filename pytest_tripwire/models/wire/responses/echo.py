"""What a response repeats of its request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: With what the provider puts where a request says nothing.
_DEFAULTS: dict[str, Any] = {
    "background": False,
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "safety_identifier": None,
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_logprobs": 0,
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}


def repeats(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the response to a request with this body repeats of it."""
    given = {name: body[name] for name in _DEFAULTS if body.get(name) is not None}
    text = given.get("text", {})
    form = text.get("format") or _DEFAULTS["text"]["format"]
    return {**_DEFAULTS, **given, "text": {**text, "format": form}}
