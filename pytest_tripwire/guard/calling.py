"""How a callable is called: binding its arguments, entering it, telling what its failure means."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

from pytest_tripwire.timeline import Effect, Outcome, Status, ToolSpec


@runtime_checkable
class Staged(Protocol):
    """A tool whose start can be told from its work, so that no stop slips in between the two.

    `start` does what is instant and returns the rest of the work.
    """

    def start(self, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        """Enter the tool; the result is called, or awaited, for its result."""


def bind(
    signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """The arguments by name, defaults filled in, and what is wrong with them (empty if nothing)."""
    given: Any = kwargs  # as an adapter got it from a model, whatever the annotation says
    if not isinstance(given, Mapping):
        return {}, "its arguments have to be an object"
    if signature is None:
        return dict(kwargs), ""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        return dict(kwargs), str(error)
    bound.apply_defaults()
    named = dict(bound.arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            rest = named.pop(parameter.name)
            # A positional-only argument and one of `rest` may share a name.
            named |= rest if named.keys().isdisjoint(rest) else {parameter.name: rest}
    return named, ""


def signature_of(tool: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of `tool`; None for callables that have none."""
    try:
        return inspect.signature(tool)
    except (TypeError, ValueError):
        return None


def enter(tool: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Start a staged tool, or put off a plain one: a callable that does the rest."""
    start = staged_start(tool)
    if start is not None:
        return start(*args, **kwargs)
    return functools.partial(tool, *args, **kwargs)


def staged_start(tool: Any) -> Callable[..., Any] | None:
    """The `start` of a staged tool. A mock has any attribute that it is asked for, so only one that
    is really there counts.
    """
    real = inspect.getattr_static(tool, "start", None) is not None
    return tool.start if real and isinstance(tool, Staged) else None


@runtime_checkable
class AsyncWork(Protocol):
    """The rest of a staged tool's work, where it can be done as a task too."""

    def arun(self) -> Awaitable[Any]:
        """Do it as a task."""


def accepted(signature: inspect.Signature | None, offered: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the `offered` arguments that the signature takes."""
    if signature is None:
        return dict(offered)
    parameters = signature.parameters.values()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        return dict(offered)
    return {name: value for name, value in offered.items() if name in signature.parameters}


def is_async(tool: Callable[..., Any]) -> bool:
    """Whether calling `tool` gives an awaitable, as far as its definition tells."""
    inner = tool.func if isinstance(tool, functools.partial) else tool
    called = getattr(inner, "__call__", None)  # noqa: B004 - the method itself is looked at
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(called)


def is_generator(tool: Callable[..., Any]) -> bool:
    """Whether calling `tool` gives a generator, sync or async."""
    return inspect.isgeneratorfunction(tool) or inspect.isasyncgenfunction(tool)


def returned(result: Any, spec: ToolSpec) -> Outcome:
    """What a result says about the effect. One that calls itself an error, by the declared field
    or in the way of the Model Context Protocol, is no success.
    """
    error = _own_error(result, spec)
    if error is None:
        return Outcome(status=Status.OK, result=result)
    if any(failure == error for failure in spec.definite_failures):
        return Outcome(status=Status.DEFINITE, error=error)
    status = Status.UNKNOWN if spec.effect is Effect.WRITE else Status.TRANSIENT
    return Outcome(status=status, error=error)


def _own_error(result: Any, spec: ToolSpec) -> str | None:
    """The class of the error that a result tells of: the field's value where that is short, as an
    error's text may hold anything.
    """
    if not isinstance(result, Mapping):
        return None
    if spec.error_field is not None and result.get(spec.error_field):
        value = result[spec.error_field]
        short = isinstance(value, str) and value.isidentifier()
        return value if short else "error result"
    marked = any(result.get(name) is True for name in ("isError", "is_error"))
    return "error result" if marked else None


def failed(error: BaseException, spec: ToolSpec) -> Outcome:
    """What an exception from the tool's body says about the effect. For a write only a declared
    failure proves that nothing happened; anything else, a cancellation too, leaves it unknown.
    """
    name = type(error).__name__
    if matches(error, spec.denials):
        rule = getattr(error, "rule", None)
        return Outcome(status=Status.DENIED, error=name, rule=str(rule) if rule else None)
    if matches(error, spec.definite_failures):
        return Outcome(status=Status.DEFINITE, error=name)
    status = Status.UNKNOWN if spec.effect is Effect.WRITE else Status.TRANSIENT
    return Outcome(status=status, error=name)


def matches(error: BaseException, failures: Iterable[type[BaseException] | str]) -> bool:
    """Whether an error is of one of these kinds, given as types or as names of types."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return any(
        failure in names if isinstance(failure, str) else isinstance(error, failure)
        for failure in failures
    )
