"""Forms in parts, such as uploads, whose boundary a client makes up each time."""

from __future__ import annotations

import re

from pytest_tripwire.models.cassettes.names import is_secret
from pytest_tripwire.models.cassettes.secrets import FILTERED

_BOUNDARY = re.compile(r'multipart/.*?boundary="?([^";\s]+)', re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(
    rb'(content-disposition:[^\r\n]*[; ]name="?([^";\r\n]*)[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)'
    rb"(.+?)(?=\r\n--)",
    re.IGNORECASE | re.DOTALL,
)


def filtered_parts(body: bytes, content_type: str) -> bytes:
    """The body without the fields that are called a secret; any other body as it is."""
    if _BOUNDARY.search(content_type) is None:
        return body
    return _FIELD.sub(_filtered, body)


def _filtered(field: re.Match[bytes]) -> bytes:
    if is_secret(field[2].decode("utf-8", "replace")):
        return field[1] + FILTERED.encode()
    return field[0]


def without_boundary(body: bytes, content_type: str) -> bytes:
    """The body with the same boundary each time; any other body as it is."""
    found = _BOUNDARY.search(content_type)
    if found is None:
        return body
    return body.replace(b"--" + found[1].encode("utf-8", "replace"), b"--boundary")
