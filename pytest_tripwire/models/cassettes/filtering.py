"""Takes secrets out of requests and responses before anything of them is kept."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import msgspec

from pytest_tripwire.models.cassettes.bodies import filtered_body, filtered_pairs
from pytest_tripwire.models.cassettes.errors import CassetteError
from pytest_tripwire.models.cassettes.interaction import Got, Headers, Sent
from pytest_tripwire.models.cassettes.names import is_secret_header
from pytest_tripwire.models.cassettes.secrets import FILTERED, Secrets, proves

Message = TypeVar("Message", Sent, Got)

_ENCODING = "content-encoding"
_URLS = frozenset({"location", "content-location", "referer"})
#: What describes the bytes on the wire rather than those that are kept.
_OF_THE_WIRE = frozenset({_ENCODING, "transfer-encoding"})


def filtered_request(sent: Sent, secrets: Secrets) -> Sent:
    """The request without secrets, uncompressed.

    Raises:
        CassetteError: for a body that is compressed in a way that cannot be undone here.
    """
    plain = decompressed(sent)
    content_type = sent.header("content-type")
    body = filtered_body(plain.body, secrets, content_type=content_type, answer=False)
    return Sent(
        method=sent.method,
        uri=secrets.hide(_filtered_uri(sent.uri)),
        headers=_filtered_headers(plain.headers, secrets, sent.body, body),
        body=body,
    )


def filtered_response(got: Got, secrets: Secrets) -> Got:
    """The response without secrets, uncompressed.

    Raises:
        CassetteError: for a body that is compressed in a way that cannot be undone here: what
            cannot be read cannot be filtered.
    """
    plain = decompressed(got)
    content_type = plain.header("content-type")
    body = filtered_body(plain.body, secrets, content_type=content_type, answer=True)
    return Got(
        status=plain.status,
        reason=secrets.hide(plain.reason),
        headers=_filtered_headers(plain.headers, secrets, got.body, body),
        body=body,
    )


def _filtered_uri(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host, query=filtered_pairs(parts.query)))


def _filtered_headers(
    headers: Headers, secrets: Secrets, before: bytes, after: bytes
) -> dict[str, tuple[str, ...]]:
    filtered = {name: _header(name, values, secrets) for name, values in headers.items()}
    if before != after:
        # The old length would tell that of a secret, and mislead whoever reads the new body.
        length = (str(len(after)),)
        filtered |= {name: length for name in headers if name.lower() == "content-length"}
    return filtered


def _header(name: str, values: tuple[str, ...], secrets: Secrets) -> tuple[str, ...]:
    if is_secret_header(name):
        return (FILTERED,)
    return tuple(secrets.hide(_filtered_value(name, value)) for value in values)


def _filtered_value(name: str, value: str) -> str:
    if proves(value):
        return FILTERED
    return _filtered_uri(value) if name.lower() in _URLS else value


def decompressed(message: Message) -> Message:
    """The message as it was before it was compressed for the wire. Raises CassetteError."""
    body = message.body
    for encoding in reversed(message.header(_ENCODING).replace(" ", "").lower().split(",")):
        if encoding and encoding != "identity" and body:
            body = _undone(encoding, body, of=message)
    headers = message.headers.items()
    kept = {name: each for name, each in headers if name.lower() not in _OF_THE_WIRE}
    return msgspec.structs.replace(message, headers=kept, body=body)


def _undone(encoding: str, body: bytes, *, of: Sent | Got) -> bytes:
    # Some clients hand a body over uncompressed and leave the header as it was.
    with suppress(UnicodeDecodeError):
        body.decode()
        return body
    undo = _WAYS.get(encoding) or _optional(encoding)
    try:
        if undo is not None:
            return undo(body)
    except Exception:  # noqa: BLE001, S110 - each library has exceptions of its own
        pass
    what, todo = "response", "have the client send `Accept-Encoding: gzip`"
    if isinstance(of, Sent):
        what, todo = "request", "have the client send it as it is, or compressed with gzip"
    raise CassetteError(
        f"a {what} is compressed with {encoding[:20]!r}, which cannot be undone here, so its "
        f"secrets cannot be filtered and it is not recorded: {todo}"
    )


def _optional(encoding: str) -> Callable[[bytes], bytes] | None:
    """What a client that asked for this encoding has installed."""
    for module, function in _LIBRARIES.get(encoding, ()):
        with suppress(ImportError):
            undo: Callable[[bytes], bytes] = getattr(import_module(module), function)
            return undo
    return None


def _gzip(body: bytes) -> bytes:
    return zlib.decompress(body, zlib.MAX_WBITS | 16)


def _deflate(body: bytes) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error:
        return zlib.decompress(body, -zlib.MAX_WBITS)


_LIBRARIES = {
    "br": (("brotli", "decompress"), ("brotlicffi", "decompress")),
    "zstd": (("compression.zstd", "decompress"), ("zstandard", "decompress")),
}
_WAYS: dict[str, Callable[[bytes], bytes]] = {"gzip": _gzip, "x-gzip": _gzip, "deflate": _deflate}
