"""Tools without a breaker of ours: the agent's own protection is what is tried."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pytest_tripwire.guard.calling import AsyncWork, staged_start


class Unguarded:
    """Calls tools by name and asks nobody."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        self._functions = functions

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,  # noqa: ARG002 - the same shape as the guarded one
        agent: str | None = None,  # noqa: ARG002
    ) -> Any:
        """Call a tool. Raises KeyError for a name that no tool has."""
        return self._functions[name](**arguments)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """The same, for async code: what a tool waits for, it waits for as a task, so that a
        deadline of the agent's own is not kept waiting by it.
        """
        start = staged_start(self._functions[name])
        rest = start(**arguments) if start is not None else None
        if isinstance(rest, AsyncWork):
            return await rest.arun()
        result = rest() if rest else self.call(name, arguments, call_id=call_id, agent=agent)
        return await result if inspect.isawaitable(result) else result
