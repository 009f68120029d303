"""One proposal without its free text, where nobody has declared what is wording.

A declared wording is left out of the intent itself. Here the values tell: what reads as several
words is free text, and so is whatever stands in an argument that has held such text before.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.fingerprint import (
    is_minted,
    is_talk_of,
    kept_of,
)
from pytest_tripwire.breaker.names import is_plea, is_present, is_wording
from pytest_tripwire.breaker.words import (
    Wording,
    is_random,
    is_reference,
    is_reworded,
    is_wordy,
    restates,
    wording,
)
from pytest_tripwire.timeline import Effect, ToolCall, ToolSpec

#: Tools, and arguments of them, whose free text is remembered.
_MOST = 256
#: Digits of a number that is compared as one.
_DIGITS = 18
#: Parts of a value, and characters of a text, that are read as a person reads them.
_PARTS = 16
_LONGEST = 2000
_DASHES = re.compile("[\u2010-\u2015\u2212]")


class Loose(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as a fixed part and a free text.

    Args:
        kind: operation class of the tool.
        rest: fingerprint of all arguments that are no free text.
        fixed: how many arguments that are.
        words: the free text; None without any.
        plea: fingerprint of all arguments but those that say why it is wanted.
        named: whether the fixed part names one certain thing.
        drawn: values that look drawn by lot and were left out, where there are others. Two orders
            may have ids like that, so what is left out of a write only ever holds it back.
    """

    kind: str
    rest: str
    fixed: int
    words: Wording | None
    plea: str
    named: bool = False
    drawn: tuple[str, ...] = ()

    def rewords(self, other: Loose) -> bool:
        """Whether both ask for one thing, at most in other words."""
        if (self.kind, self.rest) != (other.kind, other.rest):
            return False
        if self.words is None or other.words is None:
            return self.words is other.words
        return is_reworded(self.words, other.words)

    def restates(self, other: Loose) -> bool:
        """Whether `other` asks again for what this was denied."""
        if self.kind == other.kind and self.plea and self.plea == other.plea:
            return True
        if (self.kind, self.rest) != (other.kind, other.rest):
            return False
        if self.words is None or other.words is None:
            return self.words is other.words
        return restates(self.words, other.words)

    def about(self, other: Loose) -> bool:
        """Whether both ask about the same thing, whatever they ask."""
        return (self.kind, self.rest) == (other.kind, other.rest)

    def respells(self, other: Loose) -> bool:
        """Whether the texts of one hold no word that those of the other do not: another pattern or
        another spelling of one thing.
        """
        if (self.kind, self.rest) != (other.kind, other.rest):
            return False
        if self.words is None or other.words is None:
            return self.words is other.words
        one, two = self.words.tokens, other.words.tokens
        numbered = any(each[0].isdigit() for each in one ^ two)
        return bool(one) and bool(two) and (one <= two or two <= one) and not numbered

    def concerns(self, other: Loose) -> bool:
        """Whether both may act on one thing, for a write that is held when in doubt: the fixed
        parts are equal, and the texts are not about different things altogether.
        """
        if self.kind == other.kind and self.plea and self.plea == other.plea:
            return True
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

    def says_something(self, call: ToolCall, spec: ToolSpec) -> bool:
        """Whether a call holds free text, or a value that looks drawn by lot. Cheap, as it is asked
        of every read.
        """
        known: AbstractSet[str] = self._names.get(spec.name, frozenset())
        for name, value in call.arguments.items():
            if isinstance(value, str) and (_is_free(name, value, known) or _is_drawn(name, value)):
                return True
        return False

    def loosen(self, call: ToolCall, spec: ToolSpec) -> Loose:
        """`call` as a fixed part and a free text."""
        known: AbstractSet[str] = self._names.get(spec.name, frozenset())
        named = frozenset(spec.identity or ()) | frozenset(spec.cursor)
        fixed: dict[str, Any] = {}
        texts: list[str] = []
        drawn: list[str] = []
        talked = False
        for name, value in call.arguments.items():
            if is_minted(name, spec):
                continue
            if is_talk_of(name, spec):
                talked = True
            elif name not in named and isinstance(value, str) and _is_free(name, value, known):
                texts.append(value)
                self._learn(spec.name, name, value)
            elif name not in named and _is_drawn(name, value):
                drawn.append(str(value))
            else:
                fixed[name] = value
        if not (fixed or texts or talked):
            fixed, drawn = {"drawn": drawn}, []
        return Loose(
            kind=spec.kind,
            drawn=tuple(drawn),
            rest=digest((spec.kind, fixed), whole_numbers=True),
            fixed=len(fixed),
            named=any(isinstance(each, str) and is_reference(each) for each in fixed.values()),
            words=wording(" ".join(texts)) if texts else None,
            plea="" if spec.effect is Effect.READ else _without_plea(call, spec),
        )

    def spelled(self, call: ToolCall, spec: ToolSpec) -> Loose:
        """`call` with all of its texts as free text, such as paths and patterns."""
        kept = kept_of(call.arguments, spec)
        texts = {name: value for name, value in kept.items() if isinstance(value, str)}
        fixed = {name: value for name, value in kept.items() if name not in texts}
        return Loose(
            kind=spec.kind,
            rest=digest((spec.kind, fixed, sorted(texts)), whole_numbers=True),
            fixed=len(fixed),
            words=wording(" ".join(texts.values())) if texts else None,
            plea="",
        )

    def _learn(self, tool: str, name: str, value: str) -> None:
        if is_wordy(value) and (tool in self._names or len(self._names) < _MOST):
            names = self._names.setdefault(tool, set())
            if len(names) < _MOST:
                names.add(name)


def _is_drawn(name: str, value: Any) -> bool:
    return is_random(value) or is_present(name)


def _without_plea(call: ToolCall, spec: ToolSpec) -> str:
    kept = {
        name: lax
        for name, value in kept_of(call.arguments, spec).items()
        if not is_plea(name) and (lax := _lax(value)) is not None
    }
    return digest((spec.kind, kept), whole_numbers=True) if kept else ""


def _lax(value: Any, depth: int = 4) -> Any:
    """A value as a person reads it: letter case, space and dashes, a number in quotes, a list of
    whatever kind. What is None was left out.
    """
    if depth and type(value) is dict and len(value) <= _PARTS:
        return {name: _lax(part, depth - 1) for name, part in value.items() if part is not None}
    if depth and type(value) in {list, tuple} and len(value) <= _PARTS:
        return [_lax(part, depth - 1) for part in value]
    if type(value) is not str or len(value) > _LONGEST:
        return value
    text = _DASHES.sub("-", unicodedata.normalize("NFKC", value)).strip().lstrip("#").casefold()
    try:
        return float(text) if len(text) < _DIGITS else text
    except ValueError:
        return "".join(each for each in text if unicodedata.category(each) != "Cf")


def _is_free(name: str, value: str, known: AbstractSet[str]) -> bool:
    return name in known or is_wording(name) or is_wordy(value)
