"""Hashes of parts, and how a type and a text are written into one."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from hashlib import blake2b, sha256
from typing import Any, Final

#: Bytes of a hash.
SIZE: Final = 16
#: Bytes that BLAKE2 takes at once; for more, SHA-2 is faster, as processors know it.
_BLOCK: Final = 128


def fingerprint(raw: bytes) -> str:
    """The hash of canonical bytes, as hexadecimal digits."""
    if len(raw) <= _BLOCK:
        return blake2b(raw, digest_size=SIZE).hexdigest()
    return sha256(raw).hexdigest()[: 2 * SIZE]


def hashed(tag: bytes, parts: Iterable[bytes]) -> bytes:
    """The hash of parts under a tag; where one part ends and the next begins counts."""
    state = blake2b(digest_size=SIZE)
    for part in (tag, *parts):
        state.update(len(part).to_bytes(8, "big"))
        state.update(part)
    return state.digest()


def text_of(value: str) -> bytes:
    """A text in Unicode form NFC; halves of a surrogate pair are kept as they are."""
    return unicodedata.normalize("NFC", value).encode("utf-8", "surrogatepass")


def name_of(kind: Any) -> bytes:
    """The full name of a class or function."""
    module = getattr(kind, "__module__", None) or ""
    return text_of(f"{module}.{getattr(kind, '__qualname__', '')}")
