"""Tokens of one model request, as far as anybody can price them."""

from __future__ import annotations

from typing import Protocol

import msgspec

from pytest_tripwire.breaker.limits import read_count


class TokenUsage(Protocol):
    """Tokens of one request; `Usage` is one. Cached ones are among those of the prompt."""

    @property
    def prompt_tokens(self) -> int | None:
        """All tokens of the prompt; None if nobody knows."""

    @property
    def completion_tokens(self) -> int | None:
        """Tokens of the answer; None if nobody knows."""

    @property
    def cached_tokens(self) -> int | None:
        """Tokens of the prompt that the provider had in its cache."""

    @property
    def cache_write_tokens(self) -> int | None:
        """Tokens of the prompt that the provider put into its cache."""


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens that are all known, and agree with one another."""

    prompt: int
    completion: int
    cached: int
    written: int


def known_tokens(usage: TokenUsage) -> Tokens | None:
    """What a provider says is hostile input: nothing is made of numbers that cannot be."""
    prompt, completion = read_count(usage.prompt_tokens), read_count(usage.completion_tokens)
    cached = read_count(usage.cached_tokens or 0)
    written = read_count(usage.cache_write_tokens or 0)
    if prompt is None or completion is None or cached is None or written is None:
        return None
    if cached + written > prompt:
        return None
    return Tokens(prompt=prompt, completion=completion, cached=cached, written=written)
