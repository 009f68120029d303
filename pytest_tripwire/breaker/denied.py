"""What tools have denied, beyond one declared thing: the same request in other words, the same
target by another command, and what was denied put into a file and run from there.
"""

from __future__ import annotations

from collections import deque

import msgspec

from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.words import is_file, references

_MOST = 64
#: Denials of one rule about one target, and of one rule by one tool, after which no more is asked.
_TARGETS = 2
_TOOL = 4
#: The same where the rule names the tool.
_NAMED = 3
#: More than any run that is remembered.
_NEVER = _MOST + 1
#: A text that is shorter may stand inside another by accident.
_SHORTEST = 12
_NAME = 4


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """One denied call.

    Args:
        kind: operation class.
        key: the class of the denial and what it is about.
        rule: rule id, or class of the denial.
        loose: the call without free text.
        texts: its texts, for the run's own life only.
        targets: the certain things that its texts name.
        seq: the event.
        turn: the turn in which it was proposed.
        declared: whether what the tool acts on is declared.
    """

    kind: str
    key: str
    rule: str
    loose: Loose
    texts: tuple[str, ...]
    targets: frozenset[str]
    seq: int
    turn: int
    declared: bool


class Denied:
    """Owner of a run's denials, and of what was written of them."""

    def __init__(self) -> None:
        self._refused: deque[Refused] = deque(maxlen=_MOST)
        self._tainted: dict[str, int] = {}

    def add(self, proposal: Proposal, loose: Loose, *, rule: str, seq: int, turn: int) -> None:
        """A tool has said no."""
        spec, texts = proposal.spec, _texts(proposal)
        self._refused.append(
            Refused(
                kind=spec.kind,
                key=spec.denial_class or spec.kind,
                rule=rule,
                loose=loose,
                texts=texts,
                targets=frozenset().union(*(references(each) for each in texts)),
                seq=seq,
                turn=turn,
                declared=spec.identity is not None,
            )
        )

    def wrote(self, proposal: Proposal, *, seq: int) -> None:
        """A write has gone through. If it carries a denied text, what it names is tainted by it."""
        if not self._refused:
            return
        texts = _texts(proposal)
        carried = [each for each in self._refused for text in each.texts if len(text) >= _SHORTEST]
        if any(_carries(texts, each.texts) for each in carried):
            for name in texts:
                certain = len(name) >= _NAME and is_file(name)
                if certain and not any(name in text for each in carried for text in each.texts):
                    self._tainted.setdefault(name, seq)

    def clear(self) -> None:
        """Forget all: the user has spoken."""
        self._refused.clear()
        self._tainted.clear()

    def repeats(self, proposal: Proposal, loose: Loose) -> tuple[int, ...]:
        """The events of the denials that a proposal repeats; empty if it is a new question."""
        kind = [each for each in self._refused if each.kind == proposal.spec.kind]
        if not kind:
            return ()
        reworded = [each for each in kind if not each.declared and each.loose.restates(loose)]
        if reworded:
            return tuple(each.seq for each in reworded)
        return self._by_target(kind, proposal) or self._by_tool(kind)

    def _by_target(self, kind: list[Refused], proposal: Proposal) -> tuple[int, ...]:
        if proposal.spec.identity is not None:
            return ()
        texts = _texts(proposal)
        tainted = [seq for name, seq in self._tainted.items() if any(name in t for t in texts)]
        if tainted:
            return tuple(sorted({*(each.seq for each in kind), *tainted}))
        targets = frozenset().union(*(references(each) for each in texts))
        rule = kind[-1].rule
        about = [each for each in self._refused if each.rule == rule and each.targets & targets]
        asked = any(each.kind == proposal.spec.kind for each in about)
        return tuple(each.seq for each in about) if asked and len(about) >= _TARGETS else ()

    def _by_tool(self, kind: list[Refused]) -> tuple[int, ...]:
        """Where what is acted on is not declared: one rule that the tool has given again and again,
        as commands mostly mean one thing, or as the rule is about the tool itself.
        """
        rule = kind[-1].rule
        last = [each for each in kind if each.rule == rule and not each.declared]
        turns = {each.turn for each in last}
        worded = all(each.loose.words is not None for each in last)
        limit = _TOOL if worded else _NEVER
        if last and kind[-1].kind.casefold() in rule.casefold():
            limit = _NAMED
        return tuple(each.seq for each in last) if len(turns) >= limit else ()


def _texts(proposal: Proposal) -> tuple[str, ...]:
    values = proposal.call.arguments.values()
    return tuple(each.strip() for each in values if isinstance(each, str) and each.strip())


def _carries(texts: tuple[str, ...], denied: tuple[str, ...]) -> bool:
    long = [each for each in denied if len(each) >= _SHORTEST]
    return any(each in text for each in long for text in texts)
