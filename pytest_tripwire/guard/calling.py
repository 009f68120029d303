"""How a callable is called: binding its arguments, entering it, telling what its failure means."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

from pytest_tripwire.breaker.failures import proves_nothing_happened
from pytest_tripwire.guard.errors import NotBegun
from pytest_tripwire.timeline import Effect, Outcome, Refusal, Status, ToolSpec
from pytest_tripwire.timeline.spec import Failure


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


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """A signature without anything special, so that keywords can be bound without its help.

    Args:
        names: all parameters.
        required: those without a default.
        defaults: the others, and what they are by default.
    """

    names: frozenset[str]
    required: frozenset[str]
    defaults: Mapping[str, Any]

    def bind(self, kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
        """The arguments by name; None where the signature itself has to say what is wrong."""
        if type(kwargs) is not dict:  # whatever an adapter got from a model
            return None
        if not self.required <= kwargs.keys() <= self.names:
            return None
        return {**self.defaults, **kwargs}


def plain_of(signature: inspect.Signature | None) -> Plain | None:
    """`signature` as a plain one, if it is."""
    parameters = signature.parameters.values() if signature is not None else ()
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    if signature is None or any(each.kind not in kinds for each in parameters):
        return None
    empty = inspect.Parameter.empty
    defaults = {each.name: each.default for each in parameters if each.default is not empty}
    names = frozenset(each.name for each in parameters)
    return Plain(names=names, required=names - defaults.keys(), defaults=defaults)


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
    if isinstance(result, Refusal):  # of another guard inside: the tool was not entered
        return Outcome(status=Status.DEFINITE, error="refused")
    error = _own_error(result, spec)
    if error is None:
        return Outcome(status=Status.OK, result=result)
    status = _status(spec, lambda failures: error in failures, _error_text(result, spec))
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


def _error_text(result: Mapping[str, Any], spec: ToolSpec) -> str:
    """What an error that was returned says, in the declared field or as the protocol has it."""
    said = result.get(spec.error_field) if spec.error_field else None
    if isinstance(said, str):
        return said
    content = result.get("content")
    parts = content if isinstance(content, list | tuple) else (content,)
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts[:8]]
    return " ".join(text for text in texts if isinstance(text, str))


def failed(error: BaseException, spec: ToolSpec) -> Outcome:
    """What an exception from the tool's body says about the effect. For a write only a declared
    failure proves that nothing happened; anything else, a cancellation too, leaves it unknown.
    """
    name = type(error).__name__
    if isinstance(error, NotBegun):
        return Outcome(status=Status.DEFINITE, error=name)
    if matches(error, spec.denials):
        rule = getattr(error, "rule", None)
        return Outcome(status=Status.DENIED, error=name, rule=str(rule) if rule else None)
    status = _status(spec, lambda failures: matches(error, failures), _text_of(error))
    return Outcome(status=status, error=name)


def _status(spec: ToolSpec, is_one_of: Callable[[tuple[Failure, ...]], bool], text: str) -> Status:
    """How certain a failure is. A write that nobody declared this failure of is unknown, whatever
    it says: it may come from a read after the write. A read that says no is up, and one that is
    declared to be transient, or says nothing clear, is taken for down.
    """
    if is_one_of(spec.definite_failures):
        return Status.DEFINITE
    if spec.effect is Effect.WRITE:
        return Status.UNKNOWN
    if is_one_of(spec.transient_errors):
        return Status.TRANSIENT
    return Status.DEFINITE if proves_nothing_happened(text) else Status.TRANSIENT


def _text_of(error: BaseException) -> str:
    """What an exception says; nothing, if it cannot even be asked."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a tool's own class may raise anything
        return ""


def matches(error: BaseException, failures: Iterable[Failure]) -> bool:
    """Whether an error is of one of these kinds, given as types or as names of types."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return any(
        failure in names if isinstance(failure, str) else isinstance(error, failure)
        for failure in failures
    )
