"""The person who is asked before a write: always there, and says yes.

A team's breaker may ask a person before each write. No case is about a missing yes, so that it is
given, and what else protects the team is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_tripwire.adapters import waits_for_yes
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.guard.wrap import wrap


class Approving:
    """Calls a run's tools, and says yes to what waits for it."""

    def __init__(self, run: BreakerRun) -> None:
        self._run = run

    def over(self, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        """Callables of the run's tools that are called through this."""
        return {name: wrap(function, name, self) for name, function in functions.items()}

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        args: tuple[Any, ...] = (),
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Call a tool, or return the refusal."""
        result = self._run.call(name, arguments, args=args, call_id=call_id, agent=agent)
        waiting = self._approved(result)
        if waiting is None:
            return result
        return self._run.call(name, arguments, args=args, call_id=waiting, agent=agent)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        args: tuple[Any, ...] = (),
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """The same for async code."""
        result = await self._run.acall(name, arguments, args=args, call_id=call_id, agent=agent)
        waiting = self._approved(result)
        if waiting is None:
            return result
        return await self._run.acall(name, arguments, args=args, call_id=waiting, agent=agent)

    def _approved(self, result: Any) -> str | None:
        """Say yes to a call that waits for it. Its id; None for a call that does not, and where
        the agent has given the id to another call before: nobody knows then to which of them the
        yes would be, and so it stays refused.
        """
        if not waits_for_yes(result):
            return None
        waiting = str(result["call_id"])
        try:
            self._run.approve(waiting)
        except LookupError:
            return None
        return waiting
