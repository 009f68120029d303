"""Tools without a breaker of ours: the agent's own protection is what is tried."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any


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
        """The same, for async code."""
        result = self.call(name, arguments, call_id=call_id, agent=agent)
        return await result if inspect.isawaitable(result) else result
