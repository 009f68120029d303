"""In which conversation something is asked or said.

An agent that a call runs begins with that call, and knows nothing of what others have read or said.
So each has a conversation of its own, told by what runs inside of what: in the same thread or async
task and whatever is started with a copy of its context. Agents that hand a task to one another
share one conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import msgspec

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
    """

    unseen: ToolCall | None
    within: Begun | None


_CURRENT: ContextVar[Begun | None] = ContextVar("pytest_tripwire_conversation", default=None)


def current() -> Begun | None:
    """What has begun the conversation here; None in the run's own."""
    return _CURRENT.get()


@contextmanager
def inside(unseen: ToolCall | None = None) -> Iterator[None]:
    """Whatever is asked and said inside belongs to a conversation that a call has begun.

    Args:
        unseen: the call, if no run decides about it.
    """
    token = _CURRENT.set(Begun(unseen=unseen, within=_CURRENT.get()))
    try:
        yield
    finally:
        # Left in another context than it was entered in, as generators can be: nothing to undo
        # here.
        with suppress(ValueError):
            _CURRENT.reset(token)


def asked(tool: str, arguments: Mapping[str, Any]) -> ToolCall:
    """The call of a tool that no run decides about, for `inside`."""
    return ToolCall(call_id="", tool=tool, arguments=arguments)


class Conversations:
    """Owner of the names of a run's conversations. The run's own has the empty one."""

    def __init__(self) -> None:
        self._names: WeakKeyDictionary[Begun, str] = WeakKeyDictionary()
        self._inputs: Bounded[str, list[tuple[Loose, str]]] = Bounded(_MOST)
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
        self._count += 1
        outer = self.name(begun.within)
        name = f"{outer}>{self._here}.{self._count}"
        if begun.unseen is None:
            return name
        spec = ToolSpec(name=begun.unseen.tool, effect=Effect.HANDOFF)
        loose = self._free.loosen(begun.unseen, spec)
        before = self._inputs.of(f"{outer}>{loose.rest}", list)
        same = next((old for other, old in before if other.rewords(loose)), None)
        before.append((loose, same or name))
        del before[:-_ALIKE]
        return same or name


def speaker_of(conversation: str, agent: str | None) -> str:
    """Who asks: an agent in a conversation; empty where neither is known."""
    return f"{agent or ''}{conversation}"
