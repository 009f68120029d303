"""One proposal without its free text, where nobody has declared what is wording.

A declared wording is left out of the intent itself. Here the values tell: what reads as several
words is free text, and so is whatever stands in an argument that has held such text before.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.fingerprint import as_json, is_minted, is_talk_of
from pytest_tripwire.breaker.names import is_plea, is_wording
from pytest_tripwire.breaker.words import Wording, is_reworded, is_wordy, wording
from pytest_tripwire.timeline import ToolCall, ToolSpec

#: Tools, and arguments of them, whose free text is remembered.
_MOST = 256


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as a fixed part and a free text.

    Args:
        kind: operation class of the tool.
        rest: fingerprint of all arguments that are no free text.
        fixed: how many arguments that are.
        words: the free text; None without any.
        plea: fingerprint of all arguments but those that say why it is wanted.
    """

    kind: str
    rest: str
    fixed: int
    words: Wording | None
    plea: str

    def rewords(self, other: Loose) -> bool:
        """Whether both ask for one thing, at most in other words."""
        if (self.kind, self.rest) != (other.kind, other.rest):
            return False
        if self.words is None or other.words is None:
            return self.words is other.words
        return is_reworded(self.words, other.words)

    def concerns(self, other: Loose) -> bool:
        """Whether both may act on one thing, for a write that is held when in doubt: the fixed
        parts are equal, and the texts are not about different things altogether.
        """
        if (self.kind, self.rest) != (other.kind, other.rest):
            return False
        if self.words is None or other.words is None:
            return self.fixed > 0
        if self.fixed == 0:
            return is_reworded(self.words, other.words)
        return not self.words.tokens.isdisjoint(other.words.tokens)


class FreeText:
    """Owner of what a run has learned about which arguments hold free text."""

    def __init__(self) -> None:
        self._names: dict[str, set[str]] = {}

    def loosen(self, call: ToolCall, spec: ToolSpec) -> Loose:
        """`call` as a fixed part and a free text."""
        known: AbstractSet[str] = self._names.get(spec.name, frozenset())
        named = frozenset(spec.identity or ()) | frozenset(spec.cursor)
        fixed: dict[str, Any] = {}
        texts: list[str] = []
        for name, value in call.arguments.items():
            if is_minted(name, spec) or is_talk_of(name, spec):
                continue
            if name not in named and isinstance(value, str) and _is_free(name, value, known):
                texts.append(value)
                self._learn(spec.name, name, value)
            else:
                fixed[name] = as_json(value)
        return Loose(
            kind=spec.kind,
            rest=digest((spec.kind, fixed)),
            fixed=len(fixed),
            words=wording(" ".join(texts)) if texts else None,
            plea=_without_plea(call, spec),
        )

    def _learn(self, tool: str, name: str, value: str) -> None:
        if is_wordy(value) and (tool in self._names or len(self._names) < _MOST):
            names = self._names.setdefault(tool, set())
            if len(names) < _MOST:
                names.add(name)


def _without_plea(call: ToolCall, spec: ToolSpec) -> str:
    kept = {
        name: as_json(value)
        for name, value in call.arguments.items()
        if not (is_minted(name, spec) or is_talk_of(name, spec) or is_plea(name))
    }
    return digest((spec.kind, kept)) if kept else ""


def _is_free(name: str, value: str, known: AbstractSet[str]) -> bool:
    return name in known or is_wording(name) or is_wordy(value)
