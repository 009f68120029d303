"""A small grammar: many ways to word one thing, told by a few rules."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Mapping

import msgspec

#: More texts than this are not written out: a case needs some dozens.
MOST = 10_000

_SYMBOL = re.compile(r"\{(\w+)\}")


class GrammarError(ValueError):
    """A grammar that says nothing, or says it without end."""


class Grammar(msgspec.Struct, frozen=True, kw_only=True):
    """Rules without recursion, so that the texts of a grammar come to an end.

    Args:
        rules: the alternatives of each symbol. The first symbol is the one to begin with; in an
            alternative `{symbol}` stands for any of that symbol's.
        texts: every text once, in the order of the rules; written out when the value is made.

    Raises:
        GrammarError: for a symbol that has no rule, is not used, has no alternatives or leads back
            to itself, for a brace that belongs to no symbol, and for more than `MOST` texts.
    """

    rules: Mapping[str, tuple[str, ...]]
    texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Write the texts out, or refuse rules that have none."""
        if not self.rules:
            raise GrammarError("a grammar without rules says nothing: give at least one")
        for symbol, alternatives in self.rules.items():
            _check(symbol, alternatives)
        known: dict[str, tuple[str, ...]] = {}
        texts = _texts(next(iter(self.rules)), self.rules, known, ())
        idle = [symbol for symbol in self.rules if symbol not in known]
        if idle:
            raise GrammarError(f"nothing leads to the rules {', '.join(idle)}: use or drop them")
        msgspec.structs.force_setattr(self, "texts", texts)

    def phrase(self, seed: int, number: int) -> str:
        """The text of a number, counted from 0: another one for each until all have been used. It
        is the same on every machine and in every version of Python.
        """
        count = len(self.texts)
        begin, stride = _numbers(seed, count)
        return self.texts[(begin + stride * number) % count]


def grammar(**rules: str | tuple[str, ...]) -> Grammar:
    """A grammar whose rules are written as keywords; one alternative needs no tuple. Raises
    GrammarError as `Grammar` does.
    """
    several = {name: (each,) if isinstance(each, str) else each for name, each in rules.items()}
    return Grammar(rules=several)


def _check(symbol: str, alternatives: object) -> None:
    if not isinstance(alternatives, tuple) or not alternatives:
        raise GrammarError(f"the rule {symbol} has no alternatives: give a tuple of texts")
    for text in alternatives:
        if set("{}") & set(_SYMBOL.sub("", text)):
            raise GrammarError(f"a brace in {text!r} ({symbol}) belongs to no symbol: drop it")


def _texts(
    symbol: str,
    rules: Mapping[str, tuple[str, ...]],
    known: dict[str, tuple[str, ...]],
    path: tuple[str, ...],
) -> tuple[str, ...]:
    """All that a symbol can stand for. `known` is filled; `path` leads here from the first one."""
    if symbol in path:
        raise GrammarError(f"the rule {symbol} leads back to itself: its texts would have no end")
    if symbol not in rules:
        raise GrammarError(f"there is no rule {symbol}, which {path[-1]} uses; add it")
    if symbol not in known:
        found: dict[str, None] = {}
        for alternative in rules[symbol]:
            parts = [
                _texts(part, rules, known, (*path, symbol)) if place % 2 else (part,)
                for place, part in enumerate(_SYMBOL.split(alternative))
            ]
            if math.prod(map(len, parts)) + len(found) > MOST:
                raise GrammarError(f"the rule {symbol} has more than {MOST} texts: use fewer words")
            found.update(dict.fromkeys(map("".join, itertools.product(*parts))))
        known[symbol] = tuple(found)
    return known[symbol]


def _numbers(seed: int, count: int) -> tuple[int, int]:
    """Where a seed begins, and a stride that comes by every place before it comes back."""
    digest = hashlib.sha256(str(seed).encode()).digest()
    begin, stride = (int.from_bytes(part) % count for part in (digest[:16], digest[16:]))
    while math.gcd(stride, count) != 1:
        stride += 1
    return begin, stride
