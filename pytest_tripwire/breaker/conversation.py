"""In which conversation something is asked or said.

An agent that a call runs begins with that call, and knows nothing of what others have read or said.
So each has a conversation of its own, told by what runs inside of what: in the same thread or async
task and whatever is started with a copy of its context. Agents that hand a task to one another
share one conversation. An application that asks its agent about one document after another begins
one with each, told by the words that the agent hears first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.loose import FreeText, Loose
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.timeline import Effect, ToolCall, ToolSpec

#: Conversations that are told apart.
_MOST = 256
#: Inputs of one tool that a new one is compared with.
_ALIKE = 64


class Begun(msgspec.Struct, frozen=True, kw_only=True, eq=False, weakref=True):
    """What has begun a conversation.

    Args:
        unseen: the call in whose body it goes on, if no run decides about it: the same input goes
            on with the same conversation, in whatever words. None for any other call: how often
            that is made is counted, so each is a conversation of its own.
        within: the one that the call was made in; None for the run's own.
        heard: fingerprint of the words with which an application has begun it; None where a call
            has.
    """

    unseen: ToolCall | None
    within: Begun | None
    heard: str | None = None


_CURRENT: ContextVar[Begun | None] = ContextVar("pytest_tripwire_conversation", default=None)
_HEARD: ContextVar[Begun | None] = ContextVar("pytest_tripwire_heard", default=None)


def current() -> Begun | None:
    """What has begun the conversation here; None in the run's own."""
    here, heard = _CURRENT.get(), _HEARD.get()
    # What was heard within a call is nothing to those who have made it.
    return heard if heard is not None and heard.within is here else here


def hears(words: str) -> None:
    """From here on in this thread or task, what is asked and said is about what an application has
    asked its agent. Inside of a call that has begun a conversation, it is about that call.

    Args:
        words: what the agent hears first; the same words go on with the same conversation. Nothing
            changes where there are none.
    """
    plain = " ".join(words.split())
    if plain:
        within = _CURRENT.get()
        _HEARD.set(Begun(unseen=None, within=within, heard=digest(plain)))


@contextmanager
def inside(unseen: ToolCall | None = None) -> Iterator[None]:
    """Whatever is asked and said inside belongs to a conversation that a call has begun.

    Args:
        unseen: the call, if no run decides about it.
    """
    token = _CURRENT.set(Begun(unseen=unseen, within=current()))
    heard = _HEARD.set(_HEARD.get())
    try:
        yield
    finally:
        # Left in another context than it was entered in, as generators can be: nothing to undo
        # here.
        with suppress(ValueError):
            _CURRENT.reset(token)
            _HEARD.reset(heard)


def asked(tool: str, arguments: Mapping[str, Any]) -> ToolCall:
    """The call of a tool that no run decides about, for `inside`."""
    return ToolCall(call_id="", tool=tool, arguments=arguments)


class Conversations:
    """Owner of the names of a run's conversations. The run's own has the empty one."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[Begun, str] = WeakKeyDictionary()
        self._inputs: Bounded[str, list[tuple[Loose, str]]] = Bounded(_MOST)
        self._heard: Bounded[tuple[str, str], str] = Bounded(_MOST)
        self._begun: Bounded[str, bool] = Bounded(_MOST)
        self._free = FreeText()
        self._count = 0
        # What is counted of a conversation is carried to other processes, which have others.
        self._here = uuid4().hex

    def name(self, begun: Begun | None) -> str:
        """The name of the conversation that `begun` has begun."""
        if begun is None:
            return ""
        known = self._names.get(begun)
        if known is None:
            known = self._names[begun] = self._new(begun)
        return known

    def _new(self, begun: Begun) -> str:
        outer = self.name(begun.within)
        if begun.heard is not None:
            return self._about(begun.heard, begun.within, outer)
        name = self._fresh(outer)
        if begun.unseen is None:
            return name
        spec = ToolSpec(name=begun.unseen.tool, effect=Effect.HANDOFF)
        loose = self._free.loosen(begun.unseen, spec)
        before = self._inputs.of(f"{outer}>{loose.rest}", list)
        same = next((old for other, old in before if other.rewords(loose)), None)
        before.append((loose, same or name))
        del before[:-_ALIKE]
        return same or name

    def _about(self, heard: str, within: Begun | None, outer: str) -> str:
        """The first that is heard somewhere goes on with the conversation that is there already, as
        most applications ask one thing. So does all that is heard inside of a call that no run
        decides about: its input has told which conversation it is.
        """
        if within is not None and within.unseen is not None:
            return outer
        key = (outer, heard)
        known = self._heard.get(key)
        if known is None:
            known = self._fresh(outer) if outer in self._begun else outer
        self._begun.put(outer, True)  # noqa: FBT003 - a set that forgets
        self._heard.put(key, known)
        return known

    def _fresh(self, outer: str) -> str:
        self._count += 1
        return f"{outer}>{self._here}.{self._count}"


def speaker_of(conversation: str, agent: str | None) -> str:
    """Who asks: an agent in a conversation; empty where neither is known."""
    return f"{agent or ''}{conversation}"
