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

from pytest_tripwire.adapters.given import Given, without
from pytest_tripwire.adapters.reading import by_signature, read_as, signature_of, with_defaults

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


def reader_of(tool: Any, key: str | None) -> Callable[[object], Given]:
    """What reads arguments in the client's own way, before anybody decides about the call: a run
    decides on what the function gets, and a write whose arguments are wrong never began, and has no
    outcome that could be unknown.

    Args:
        tool: of the client's.
        key: the argument in which it gets the breaker's own key, if it gets one.
    """
    func = getattr(tool, "func", None)
    signature = None if func is None else signature_of(func)
    validated = None if func is None else pydantic.validate_call(_taken_by(func))
    schema = getattr(tool, "input_schema", None)

    def read(sent: object) -> Given:
        if not isinstance(sent, dict):
            raise TypeError(f"Input must be a dictionary, got {type(sent).__name__}")
        if validated is None:
            return Given.unread(sent)
        stands_in = sent if key is None else {**sent, key: _KEY}
        try:
            args, named = validated(**copy.deepcopy(stands_in))
        except pydantic.ValidationError as error:
            raise ValueError(f"Invalid arguments for function {tool.name}") from error
        taken = None if signature is None else by_signature(signature, args, named, sent)
        if taken is None:
            return Given.unread(sent)
        return read_as(sent, without(key, with_defaults(schema, _spread(signature, taken))))

    return read


def _spread(signature: Any, taken: dict[str, Any]) -> dict[str, Any]:
    """Arguments of which those that a function takes by any name stand beside the others."""
    found = dict(taken)
    for each in signature.parameters.values():
        if each.kind is each.VAR_KEYWORD:
            found |= found.pop(each.name, {})
    return found


def _taken_by(func: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    @functools.wraps(func)
    def taken(*args: Any, **named: Any) -> tuple[Any, Any]:
        """Take what `func` takes."""
        return args, named

    return taken
