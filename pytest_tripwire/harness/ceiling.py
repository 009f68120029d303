"""Real time that a run may take: past it every tool raises, which ends a loop that asks no model.

The scripted model says goodbye by itself, and async agents are cancelled. A sync agent that only
calls tools could go on for ever; its tools are the one place where it can be met.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any


class OverrunError(BaseException):
    """The run has taken longer than it may. No `Exception`: agents tell those to their models."""


class Ceiling:
    """A run's real time, from when this is made.

    Args:
        seconds: how long it may take.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._started = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Real seconds since the run began."""
        return time.monotonic() - self._started

    def check(self) -> None:
        """Raise OverrunError when the time is up."""
        if self.elapsed > self._seconds:
            raise OverrunError(
                f"the run takes more than {self._seconds:g} s of real time: end the agent's loop"
            )

    def over(self, functions: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
        """The same callables, which raise when the time is up."""
        return {name: self._over(function) for name, function in functions.items()}

    def _over(self, function: Callable[..., Any]) -> Callable[..., Any]:
        capped: Callable[..., Any]
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def capped(*args: Any, **kwargs: Any) -> Any:
                self.check()
                return await function(*args, **kwargs)
        else:
            capped = self._checked(function)
        # What a guard of the agent's own starts a tool by, so that it is no way round.
        start = getattr(function, "start", None)
        if start is not None:
            capped.__dict__["start"] = self._checked(start)
        return capped

    def _checked(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            self.check()
            return function(*args, **kwargs)

        return checked


def is_overrun(error: BaseException) -> bool:
    """Whether an agent was ended by its ceiling; a task group wraps what ends it."""
    if isinstance(error, BaseExceptionGroup):
        return any(is_overrun(each) for each in error.exceptions)
    return isinstance(error, OverrunError)
