"""A guarded callable looks like the tool it guards."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

import msgspec

from pytest_tripwire.guard.calling import is_async
from pytest_tripwire.timeline import ToolSpec

_MARK = "__tripwire_guarded__"


class Caller(Protocol):
    """What calls a tool by name, after asking."""

    def call(self, name: str, arguments: Mapping[str, Any], *, args: tuple[Any, ...] = ()) -> Any:
        """Call a tool, or return the refusal."""

    def acall(
        self, name: str, arguments: Mapping[str, Any], *, args: tuple[Any, ...] = ()
    ) -> Awaitable[Any]:
        """The same for async code."""


class Guarded(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What a guarded callable is made of.

    Args:
        wrapper: the callable itself: what wraps it in turn carries this along.
        tool: what it guards.
        spec: what is declared about that.
        family: the runs that decide about it.
    """

    wrapper: Callable[..., Any]
    tool: Callable[..., Any]
    spec: ToolSpec
    family: object


def bare(tool: Callable[..., Any], family: object) -> tuple[Callable[..., Any], ToolSpec | None]:
    """What `tool` guards and what is declared about it, if a run of this family has guarded it: two
    of them would each decide about one call, and the one take the other's for the same again. Any
    other tool as it is.
    """
    known = getattr(tool, "__dict__", {}).get(_MARK)
    if not isinstance(known, Guarded) or known.wrapper is not tool or known.family is not family:
        return tool, None
    return known.tool, known.spec


def wrap(
    tool: Callable[..., Any],
    name: str,
    caller: Caller,
    *,
    spec: ToolSpec | None = None,
    family: object = None,
) -> Callable[..., Any]:
    """`tool` with its name, signature and docstring, called through `caller`: a run of `family`, in
    which `spec` is declared about it.
    """
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
    if spec is not None:
        mark = Guarded(wrapper=guarded, tool=tool, spec=spec, family=family)
        guarded.__dict__[_MARK] = mark
    return guarded
