"""A guarded callable looks like the tool it guards."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from pytest_tripwire.guard.calling import is_async


class Caller(Protocol):
    """What calls a tool by name, after asking."""

    def call(self, name: str, arguments: Mapping[str, Any], *, args: tuple[Any, ...] = ()) -> Any:
        """Call a tool, or return the refusal."""

    def acall(
        self, name: str, arguments: Mapping[str, Any], *, args: tuple[Any, ...] = ()
    ) -> Awaitable[Any]:
        """The same for async code."""


def wrap(tool: Callable[..., Any], name: str, caller: Caller) -> Callable[..., Any]:
    """`tool` with its name, signature and docstring, called through `caller`."""
    guarded: Callable[..., Any]
    if is_async(tool):

        @functools.wraps(tool)
        async def guarded(*args: Any, **kwargs: Any) -> Any:
            return await caller.acall(name, kwargs, args=args)
    else:

        @functools.wraps(tool)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            return caller.call(name, kwargs, args=args)

    if not hasattr(tool, "__name__"):
        guarded.__name__ = guarded.__qualname__ = name
    guarded.__dict__.pop("start", None)
    return guarded
