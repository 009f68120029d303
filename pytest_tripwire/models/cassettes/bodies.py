"""Takes secrets out of a body, whatever its form."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode

from pytest_tripwire.models.cassettes.multipart import filtered_parts
from pytest_tripwire.models.cassettes.names import is_secret
from pytest_tripwire.models.cassettes.secrets import FILTERED, Secrets
from pytest_tripwire.models.cassettes.streams import filtered_stream, is_stream
from pytest_tripwire.models.cassettes.trees import Trees

_FORM = "application/x-www-form-urlencoded"


def filtered_body(body: bytes, secrets: Secrets, *, content_type: str, answer: bool) -> bytes:
    """The body without secrets; the very same bytes if it holds none.

    Args:
        body: JSON, server-sent events, a form, or anything else.
        secrets: what is hidden wherever it stands.
        content_type: what the header says.
        answer: whether it is a response.
    """
    body = filtered_parts(body, content_type)
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return secrets.hide_bytes(body)
    try:
        hidden = _filtered_text(text, secrets, content_type=content_type, answer=answer)
    except RecursionError:
        return secrets.hide_bytes(body)
    return body if hidden == text else hidden.encode("utf-8", "surrogatepass")


def _filtered_text(text: str, secrets: Secrets, *, content_type: str, answer: bool) -> str:
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _filtered_json(text, secrets, answer=answer)
        except ValueError:
            return filtered_stream(text, secrets, answer=answer)
    if is_stream(text):
        return filtered_stream(text, secrets, answer=answer)
    if _FORM in content_type.lower():
        return secrets.hide(filtered_pairs(text))
    return secrets.hide(text)


def _filtered_json(text: str, secrets: Secrets, *, answer: bool) -> str:
    value: Any = json.loads(text)
    hidden = Trees(secrets, answers=answer).filtered(value)
    # What is dropped in decoding, such as a name that stands there twice, may hold one too.
    unchanged = hidden == value and secrets.hide(text) == text
    return text if unchanged else json.dumps(hidden)


def filtered_pairs(text: str) -> str:
    """A query or a form without the values of what is called a secret."""
    pairs = parse_qsl(text, keep_blank_values=True)
    hidden = [(name, FILTERED if value and is_secret(name) else value) for name, value in pairs]
    return text if hidden == pairs else urlencode(hidden, safe="[]")
