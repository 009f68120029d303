"""Which names say that their value is a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

#: Shorter values are everyday words: to replace them wherever they stand would spoil what is said.
LEAST = 8

#: Names that say whose account it is, though no word of theirs does.
_HEADERS = frozenset({
    "openai-organization",
    "openai-project",
    "anthropic-organization-id",
    "x-goog-user-project",
})

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SURE = frozenset(
    "authorization credential credentials cookie cookies passphrase passwd password passwords "
    "secret secrets apikey apikeys accesskey authtoken accesstoken bearer jwt".split()
)
_SURE_PAIRS = frozenset({
    (first, last)
    for first in ("access", "api", "auth", "bearer", "client", "csrf", "encryption", "id")
    + ("private", "refresh", "security", "session", "signing", "subscription", "master")
    for last in ("key", "keys", "token", "tokens", "secret")
} - {("id", "key"), ("id", "keys")})
_SURE_ENDS = ("password", "apikey", "secret", "secretkey", "accesstoken", "authtoken")
_LIKELY = frozenset("key keys token tokens session sessions auth signature sig".split())
#: What may follow the word that counts: `session_id`, `token_value`.
_AFTER = frozenset("id ids value string hash header data".split())


@lru_cache(maxsize=4096)
def is_surely_secret(name: str) -> bool:
    """Whether a value under this name is a secret in any text: `password`, `api_key`."""
    words = _split(name)
    if any(word in _SURE or word.endswith(_SURE_ENDS) for word in words):
        return True
    return any(pair in _SURE_PAIRS for pair in zip(words, words[1:], strict=False))


@lru_cache(maxsize=4096)
def is_secret(name: str) -> bool:
    """Whether the name says key, token, session or the like, too: `session_id`, `x-my-token`.
    Such a value may as well be the key of a record.
    """
    if is_surely_secret(name):
        return True
    words = _split(name)
    last = words[-2] if len(words) > 1 and words[-1] in _AFTER else words[-1] if words else ""
    return last in _LIKELY


@lru_cache(maxsize=4096)
def is_secret_header(name: str) -> bool:
    """Whether a header tells a secret or whose account it is."""
    lower = name.lower()
    words = _split(lower)
    # The plural counts what a text has: `x-ratelimit-remaining-tokens`.
    likely = any(word in _LIKELY and word != "tokens" for word in words)
    return lower in _HEADERS or likely or (is_secret(lower) and words[-1] != "tokens")


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of environment variables whose name says secret."""
    return tuple(
        value
        for name, value in environment.items()
        if len(value) >= LEAST and _is_secret_variable(name)
    )


def _is_secret_variable(name: str) -> bool:
    # A desktop's session and a socket's path are no secrets, and may stand in any text.
    # `PWD` alone is the working directory.
    words = _split(name.lower())
    likely = {"key", "token"} if len(words) == 1 else {"key", "token", "pwd"}
    return is_surely_secret(name.lower()) or bool(likely.intersection(words))


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, so ordered that none is cut by one that it contains."""
    return tuple(sorted(set(texts), key=lambda text: (-len(text), text)))
