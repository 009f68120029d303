"""How the framework's tools are reached by a run that decides about their calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from pytest_tripwire.guard.errors import NotBegun

#: Runs one of the framework's tools by name: the call's own, or the read that settles a lost write.
Native: TypeAlias = Callable[[str, dict[str, Any]], Any]

#: Runs one of them: the call's arguments, and whatever the framework hands to its tools besides.
Body: TypeAlias = Callable[[dict[str, Any], Any], Any]

#: How the call that is under way in this thread or task reaches the framework's tools.
_NATIVE: ContextVar[Native] = ContextVar("tripwire_native")


class Caller(Protocol):
    """Calls a tool by name: a guarded run's tools, or those of a task."""

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Call a tool, or return the refusal."""

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """The same for async code."""


@contextmanager
def reached_by(native: Native) -> Iterator[None]:
    """The framework's tools, for whatever is decided and made meanwhile."""
    token = _NATIVE.set(native)
    try:
        yield
    finally:
        _NATIVE.reset(token)


class Answer:
    """What a call gives."""

    result: Any = None


@contextmanager
def answered() -> Iterator[Answer]:
    """Takes what a call gives; of one that has not begun, the framework's own answer."""
    answer = Answer()
    try:
        yield answer
    except NotBegun as settled:
        answer.result = settled.answer


def later(name: str) -> Callable[..., Any]:
    """What stands in a run for a tool that is awaited."""

    async def body(**arguments: Any) -> Any:
        return await _NATIVE.get()(name, arguments)

    return body


def now(name: str) -> Callable[..., Any]:
    """The same for one that is not."""

    def body(**arguments: Any) -> Any:
        return _NATIVE.get()(name, arguments)

    return body
