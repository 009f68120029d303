"""Token counts of the scripted model: made up, but the same on every machine."""

from __future__ import annotations

import msgspec

BYTES_PER_TOKEN = 4


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """What one request and its answer count for, in tokens."""

    prompt: int
    completion: int


def count_tokens(text: str | bytes) -> int:
    """Tokens that `text` counts for: one for every four bytes of UTF-8, at least one."""
    size = len(text.encode() if isinstance(text, str) else text)
    return max(1, -(-size // BYTES_PER_TOKEN))
