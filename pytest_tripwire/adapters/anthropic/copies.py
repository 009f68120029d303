"""Copies of the client's tools that do something else, and look the same to the model."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from typing import Any

import pydantic
from anthropic.lib.tools import (
    BetaAsyncBuiltinFunctionTool,
    BetaAsyncFunctionTool,
    BetaAsyncRunnableToolset,
    BetaBuiltinFunctionTool,
    BetaFunctionTool,
    BetaRunnableToolset,
)

_SYNC = (BetaFunctionTool, BetaBuiltinFunctionTool)
_ASYNC = (BetaAsyncFunctionTool, BetaAsyncBuiltinFunctionTool)
_TOOLSETS = (BetaRunnableToolset, BetaAsyncRunnableToolset)


def is_tool(thing: object) -> bool:
    """Whether the runner would run it. Raises TypeError for a toolset: it runs what no tool's name
    stands for.
    """
    if isinstance(thing, _TOOLSETS):
        raise TypeError(
            f"a toolset ({type(thing).__name__}) cannot be guarded: it answers for many tools "
            "whose effects nobody can declare. Give the runner function tools"
        )
    return isinstance(thing, (*_SYNC, *_ASYNC))


def is_async(tool: object) -> bool:
    """Whether a tool is one for the async client."""
    return isinstance(tool, _ASYNC)


def renewed(tool: Any, call: Callable[[object], Any], asks: object = None) -> Any:
    """A copy of a tool that does `call` with its input, however it is called. `asks`: the run that
    decides about it, if one does.
    """
    clone = copy.copy(tool)
    clone.call = call
    clone.tripwire_asks = asks
    if hasattr(tool, "func"):
        clone.func = _direct(tool.func, call)
    return clone


def asks(tool: object, run: object) -> bool:
    """Whether a run decides about a tool already. Asked twice, it would take the second question
    for the same call once more.
    """
    return getattr(tool, "tripwire_asks", None) is run


def _direct(func: Callable[..., Any], call: Callable[[object], Any]) -> Callable[..., Any]:
    """What calling the tool itself, as the function that it was, comes to."""
    signature = inspect.signature(func)

    def given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        rest = [
            each.name for each in signature.parameters.values() if each.kind is each.VAR_KEYWORD
        ]
        named = dict(bound.arguments)
        for name in rest:
            named |= named.pop(name, {})
        return named

    direct: Callable[..., Any]
    if inspect.iscoroutinefunction(func):

        @functools.wraps(func)
        async def direct(*args: Any, **kwargs: Any) -> Any:
            return await call(given(args, kwargs))
    else:

        @functools.wraps(func)
        def direct(*args: Any, **kwargs: Any) -> Any:
            return call(given(args, kwargs))

    return direct


#: Stands for the breaker's own key, which nobody has before the call is decided about.
_KEY = "0" * 32


def check_of(tool: Any, key: str | None) -> Callable[[object], None]:
    """What tells wrong arguments in the client's own way, before anybody decides about the call: a
    write that never began has no outcome that could be unknown.

    Args:
        tool: of the client's.
        key: the argument in which it gets the breaker's own key, if it gets one.
    """
    func = getattr(tool, "func", None)
    validated = None if func is None else pydantic.validate_call(_nothing_of(func))

    def check(given: object) -> None:
        if not isinstance(given, dict):
            raise TypeError(f"Input must be a dictionary, got {type(given).__name__}")
        if validated is None:
            return
        try:
            validated(**(given if key is None else {**given, key: _KEY}))
        except pydantic.ValidationError as error:
            raise ValueError(f"Invalid arguments for function {tool.name}") from error

    return check


def _nothing_of(func: Callable[..., Any]) -> Callable[..., None]:
    @functools.wraps(func)
    def nothing(*_args: Any, **_kwargs: Any) -> None:
        """Take what `func` takes."""

    return nothing
