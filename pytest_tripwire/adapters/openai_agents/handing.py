"""Hand-offs of the SDK that ask before the other agent takes over."""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

from agents import Handoff, handoff

#: Who has the word next, and what the model is told; None for what the SDK tells by itself.
Handed: TypeAlias = tuple[Any, str | None]
#: Answers a hand-off: its context, and the arguments as the model has sent them.
Asks: TypeAlias = Callable[[Any, str], Awaitable[Handed]]

#: The SDK asks for the words right after the hand-off, in the same task.
_TOLD: ContextVar[str | None] = ContextVar("tripwire_told", default=None)


def as_handoff(given: Any) -> Any:
    """An agent among hand-offs, as the hand-off that the SDK makes of it."""
    return given if isinstance(given, Handoff) else handoff(given)


def target_of(given: Any) -> Any:
    """The agent that a hand-off leads to, None where only calling it tells."""
    known = given._agent_ref  # noqa: SLF001 - the SDK tells it nowhere else
    return None if known is None else known()


def asked(given: Any, asks: Asks, target: Any) -> Any:
    """A copy of a hand-off that asks first. One that is refused leaves the word where it is, and
    tells the model why.

    Args:
        given: the team's hand-off.
        asks: answers it.
        target: the agent that it leads to, as far as is known before.
    """

    async def invoke(context: Any, raw: str = "") -> Any:
        agent, told = await asks(context, raw or "")
        _TOLD.set(told)
        return agent

    new = copy.copy(given)
    new.on_invoke_handoff = invoke
    new.get_transfer_message = functools.partial(_message, given)
    new._agent_ref = None if target is None else weakref.ref(target)  # noqa: SLF001 - see above
    return new


def _message(given: Any, agent: Any) -> str:
    told = _TOLD.get()
    return given.get_transfer_message(agent) if told is None else told
