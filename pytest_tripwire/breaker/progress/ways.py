"""Which ways a task has gone from one agent to another since it last advanced.

A way is who hands over and to whom. A hub that goes to one specialist after another goes a new way
each time, and so does each specialist that hands back; a ring comes to a way that it has gone.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.fingerprint import is_talk_of
from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.words import wording

#: Marks that are remembered.
_MOST = 4096
_AT = "at:"
#: Whoever had the task first, where nobody says who hands over.
_SOMEBODY = "?"


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one hand-off.

    Args:
        mark: tells it from other ways.
        gone: whether it was gone before, and the task has not advanced since.
        echoes: whether it was so in the same words.
    """

    mark: str
    gone: bool
    echoes: bool


class Ways:
    """Owner of the ways, and of who has the task now."""

    def __init__(self) -> None:
        self._said: Bounded[str, int] = Bounded(_MOST)
        self._holder = ""

    @property
    def said(self) -> tuple[str, ...]:
        """Fingerprints of the ways and their words, what was gone longest ago first."""
        return tuple(self._said.items())

    def recall(self, said: Iterable[str], advances: int) -> None:
        """Take them from an earlier part of the run."""
        for mark in said:
            self._said.put(mark, advances)
            if mark.startswith(_AT):
                self._holder = mark.removeprefix(_AT).partition(":")[0]

    def take(self, step: Step, loose: Loose | None, advances: int) -> Way:
        """Take a hand-off, when the task had advanced so often."""
        to = colleague_of(step, loose)
        # Without names, whoever was handed the task last is the one that hands it on.
        by = step.call.agent or self._holder
        mark, words = _mark(by or _SOMEBODY, to), _words_of(step, loose)
        way = self._known(mark, words, advances)
        if not way.gone and not step.call.agent:
            way = self._again(to, words, advances) if by == to else self._first(to, words, advances)
            way = msgspec.structs.replace(way, mark=mark)
        for said in (mark, f"{mark}:{words}", f"{_AT}{to}:{words}", f"{_AT}{to}"):
            self._said.put(said, advances)
        self._holder = to
        return way

    def _known(self, mark: str, words: str, advances: int) -> Way:
        return Way(
            mark=mark,
            gone=self._said.get(mark) == advances,
            echoes=self._said.get(f"{mark}:{words}") == advances,
        )

    def _again(self, to: str, words: str, advances: int) -> Way:
        """Whoever has the task is handed it once more: it has not moved at all."""
        return self._known(f"{_AT}{to}", words, advances)

    def _first(self, to: str, words: str, advances: int) -> Way:
        """Whoever had the task first may be the one that hands it over now. It is one agent, so
        this is found once.
        """
        first = _mark(_SOMEBODY, to)
        found = self._known(first, words, advances)
        if found.gone:
            self._said.drop(first)
        return found

    def clear(self) -> None:
        """Forget all but who has the task."""
        self._said.clear()


def colleague_of(step: Step, loose: Loose | None) -> str:
    """Who is handed the task: the tool, and what it is told but for words and required fields."""
    if loose is not None and not is_declared(step):
        return digest((step.tool, loose.rest))
    return digest((step.tool, step.resource if step.spec.required_fields else step.intent))


def is_declared(step: Step) -> bool:
    """Whether somebody has said which arguments are words, or which have to be filled."""
    return bool(step.spec.required_fields or step.spec.wording)


def _mark(by: str, to: str) -> str:
    return digest((by, to))


def _words_of(step: Step, loose: Loose | None) -> str:
    """What is said along with it. Talk is no part of what is asked, and yet it is words."""
    if loose is None or is_declared(step):
        return step.exact
    talk = [str(value) for name, value in step.call.arguments.items() if _is_talk(name, step)]
    said = wording(" ".join(talk)).pieces
    return digest((loose.words.pieces if loose.words else (), said))


def _is_talk(name: str, step: Step) -> bool:
    return is_talk_of(name, step.spec)
