"""Secrets by what they are rather than by the name they stand under."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote_to_bytes, urlsplit

from pytest_tripwire.models.cassettes.interaction import Sent
from pytest_tripwire.models.cassettes.names import (
    LEAST,
    is_secret,
    is_secret_header,
    is_surely_secret,
    longest_first,
)

FILTERED = "[filtered]"

#: What the scripted model's clients send as their key; the word stands in many a text.
_NO_SECRET = frozenset({"tripwire"})

#: Keys that are known by their look, whole or with stars as error messages show them.
_SHAPES = re.compile(
    r"\bsk-[\w-]{0,80}\*{3,}[\w-]{0,80}"
    r"|\b(?:sk|pk|rk)[-_](?=[\w-]{0,80}\d)[\w-]{16,}"
    r"|\bAIza[\w-]{30,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\bxox[abprs]-[\w-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}"
    r"|\beyJ[\w-]{8,400}\.eyJ[\w-]{8,4000}\.[\w-]{8,1000}"
)
_PROOF = re.compile(r"\s*(?:Bearer|Basic)\s+\S{8}", re.IGNORECASE)
_SCHEME = re.compile(r"(?:Bearer|Basic|Token|ApiKey|Digest)\s+(.+)", re.IGNORECASE | re.DOTALL)


class Secrets:
    """Texts to be hidden, in every form in which they are likely to be written."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self.texts = frozenset(text for text in texts if _counts(text))
        self._forms = longest_first(form for text in self.texts for form in _forms(text))

    def __repr__(self) -> str:
        return f"<Secrets, {len(self.texts)} of them>"

    def __or__(self, other: Iterable[str]) -> Secrets:
        """These and more."""
        more = frozenset(other)
        return self if more <= self.texts else Secrets(self.texts | more)

    def hide(self, text: str) -> str:
        """The text without them, and without what looks like a key."""
        # Forms one by one: to search for one is quick, to try many at each place is not.
        for form in self._forms:
            if form in text:
                text = text.replace(form, FILTERED)
        return _SHAPES.sub(FILTERED, text)

    def hide_bytes(self, data: bytes) -> bytes:
        """The same for bytes of any kind."""
        text = data.decode("utf-8", "surrogateescape")
        hidden = self.hide(text)
        return data if hidden == text else hidden.encode("utf-8", "surrogateescape")

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where they stand in a text."""
        held = [re.compile(re.escape(form)) for form in self._forms if form in text]
        for pattern in (*held, _SHAPES):
            yield from (found.span() for found in pattern.finditer(text))


def sent_secrets(sent: Sent) -> Iterator[str]:
    """What a request proves itself by: keys in its headers, in its URL, and in the fields of a form
    or of JSON that are called so.
    """
    for name, values in sent.headers.items():
        for value in values:
            if not is_secret_header(name) and not proves(value):
                continue
            yield from _credentials(value) if name.lower() != "cookie" else _cookies(value)
    parts = urlsplit(sent.uri)
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if is_secret(name):
            yield value
    yield from filter(None, (parts.password or parts.username,))
    for name, value in _fields(sent):
        if isinstance(value, str) and is_surely_secret(name):
            yield value


def _fields(sent: Sent) -> Iterable[tuple[str, Any]]:
    # Those at the top alone: further down stands what a tool takes, and what it says of that.
    try:
        text = sent.body.decode()
        value: Any = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return ()
    if isinstance(value, dict):
        return value.items()
    of_a_form = "x-www-form-urlencoded" in sent.header("content-type").lower()
    return parse_qsl(text, keep_blank_values=True) if of_a_form else ()


def proves(value: str) -> bool:
    """Whether a header's value says of itself that it proves who asks."""
    return _PROOF.match(value) is not None


def _credentials(value: str) -> Iterator[str]:
    scheme = _SCHEME.fullmatch(value.strip())
    credential = scheme[1].strip() if scheme else value.strip()
    yield credential
    if value.strip().lower().startswith("basic"):
        try:
            pair = base64.b64decode(credential, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            return
        yield pair
        user, _, password = pair.partition(":")
        # Some take the key for the name, and no password.
        yield password or user


def _cookies(value: str) -> Iterator[str]:
    for cookie in value.split(";"):
        yield cookie.partition("=")[2].strip()


def _counts(text: str) -> bool:
    return len(text) >= LEAST and text not in _NO_SECRET and text not in FILTERED


def _forms(text: str) -> Iterator[str]:
    yield text
    once = json.dumps(text)[1:-1]
    for escaped in (once, json.dumps(once)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]):
        yield escaped
        yield escaped.replace("/", "\\/")
    data = text.encode("utf-8", "surrogatepass")
    yield from (quote(data, safe=""), quote(data), quote_plus(data))
    yield from _in_base64(data)
    unquoted = unquote_to_bytes(text).decode("utf-8", "replace")
    if len(unquoted) >= LEAST:
        yield unquoted


def _in_base64(data: bytes) -> Iterator[str]:
    """What a text becomes in base64, by itself and in the midst of others."""
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        for before in range(3):
            # Three bytes become four characters, which those at both ends share with others.
            whole = encode(b"\0" * before + data)[: (before + len(data)) // 3 * 4]
            yield whole[4 if before else 0 :].decode()
