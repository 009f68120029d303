"""Which names say that their value is a secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise

#: Shorter values are everyday words: to replace them wherever they stand would spoil what is said.
LEAST = 8

#: Names that say whose account it is, though no word of theirs does.
_HEADERS = frozenset(
    {
        "openai-organization",
        "openai-project",
        "anthropic-organization-id",
        "x-goog-user-project",
    }
)

_PROOFS = frozenset({"authentication", "pat"})
_ENDS = ("auth", "key", "session", "signature", "token")

_USERINFO = re.compile(r"[A-Za-z][\w+.-]*://[^/@\s:]*:([^/@\s]+)@")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SURE = frozenset({
    "accesskey", "accesstoken", "apikey", "apikeys", "authorization", "authtoken", "bearer",
    "cookie", "cookies", "credential", "credentials", "jwt", "passphrase", "passwd", "password",
    "passcode", "passwords", "secret", "secrets",
})  # fmt: skip
_SURE_ENDS = ("password", "apikey", "secret", "secretkey", "accesstoken", "authtoken")
#: Of these with a key, a token or a secret: `api_key`, `refresh_token`.
_SURE_OF = frozenset({
    "access", "api", "auth", "bearer", "client", "csrf", "encryption", "master", "private",
    "refresh", "security", "session", "signing", "subscription",
})  # fmt: skip
_SURE_WHAT = frozenset({"assertion", "key", "keys", "token", "tokens"})
_LIKELY = frozenset({
    "auth", "key", "keys", "pass", "session", "sessions", "sig", "signature", "token", "tokens",
})  # fmt: skip
#: What may follow the word that counts: `session_id`, `token_value`.
_AFTER = frozenset({"data", "hash", "header", "id", "ids", "string", "value"})


@lru_cache(maxsize=4096)
def is_surely_secret(name: str) -> bool:
    """Whether a value under this name is a secret in any text: `password`, `api_key`."""
    words = _split(name)
    if any(word in _SURE or word.endswith(_SURE_ENDS) for word in words):
        return True
    return any(of in _SURE_OF and what in _SURE_WHAT for of, what in pairwise(words))


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
    likely = any(_is_likely_in_header(word) for word in words)
    return lower in _HEADERS or likely or (is_secret(lower) and words[-1] != "tokens")


def _is_likely_in_header(word: str) -> bool:
    # Capitals are lost on the way, and with them where a word begins: `usertoken`.
    if word == "tokens":
        return False
    return word in _LIKELY or word in _PROOFS or word.endswith(_ENDS)


def secrets_of(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of environment variables whose name says secret, and passwords in URLs."""
    held = [value for name, value in environment.items() if _is_secret_variable(name)]
    held += filter(None, map(_password_in, environment.values()))
    return tuple(value for value in held if len(value) >= LEAST)


def _password_in(value: str) -> str:
    """That of a proxy or a database, which stands in its URL."""
    found = _USERINFO.match(value)
    return found[1] if found else ""


def _is_secret_variable(name: str) -> bool:
    # A desktop's session and a socket's path are no secrets, and may stand in any text.
    # `PWD` alone is the working directory.
    words = _split(name.lower())
    likely = {"key", "token"} if len(words) == 1 else {"key", "token", "pwd", "pass", "pat"}
    return is_surely_secret(name.lower()) or bool(likely.intersection(words))


def _split(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def longest_first(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, so ordered that none is cut by one that it contains."""
    return tuple(sorted(set(texts), key=lambda text: (-len(text), text)))
