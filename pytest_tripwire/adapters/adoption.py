"""Taking over an agent that owns its tools: their names and schemas stay, their bodies change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from pytest_tripwire.adapters.bridge import Caller


class UnknownToolError(LookupError):
    """An agent has a tool that nobody said anything about."""


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as a framework has to show it to its model.

    Args:
        name: its name.
        description: what it is for.
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


#: What a tool answers that plays a part in other cases than this one.
IDLE = "This tool is of no use here."


class Adoption:
    """What an adapter needs to take an agent over.

    Args:
        caller: calls the new bodies.
        names: the tools that there are bodies for.
        idle: tools that play a part elsewhere, and only say so here. Their own bodies never run.
    """

    def __init__(self, caller: Caller, names: Iterable[str], idle: Iterable[str] = ()) -> None:
        self._names = frozenset(names)
        self._idle = frozenset(idle) - self._names
        self.caller: Caller = _OrIdle(caller, self._idle) if self._idle else caller
        self._unknown: dict[str, str] = {}

    def knows(self, name: str) -> bool:
        """Whether there is a body for a tool."""
        return name in self._names

    def need(self, name: str, agent: str) -> None:
        """See that there is a body for a tool of an agent; all that are missing are told at the
        end, by `check`.
        """
        if name not in self._names and name not in self._idle:
            self._unknown.setdefault(name, agent)

    def check(self) -> None:
        """Raise UnknownToolError with every tool that has no body, and what to write."""
        if not self._unknown:
            return
        missing = ", ".join(
            f"{name!r} of {agent or 'the agent'}" for name, agent in self._unknown.items()
        )
        first = next(iter(self._unknown))
        raise UnknownToolError(
            f"the agent has tools that play no role: {missing}. Say what each does in "
            f'tripwire_tools, such as {{"search": Role({first}, {{...}})}}, or build the agent '
            "without it"
        )


class _OrIdle:
    """Calls what plays a part, and answers for what does not."""

    def __init__(self, caller: Caller, idle: frozenset[str]) -> None:
        self._caller, self._idle = caller, idle

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Call a tool, or say that it is idle."""
        if name in self._idle:
            return IDLE
        return self._caller.call(name, arguments, call_id=call_id, agent=agent)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """The same for async code."""
        if name in self._idle:
            return IDLE
        return await self._caller.acall(name, arguments, call_id=call_id, agent=agent)
