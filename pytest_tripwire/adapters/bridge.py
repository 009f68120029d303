"""A run's tools whose bodies are a framework's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Reason, ToolCall, ToolSpec, Verdict
from pytest_tripwire.timeline.spec import ATTRIBUTE

#: Runs one of the framework's tools by name: the call's own, or the read that settles a lost write.
Native: TypeAlias = Callable[[str, dict[str, Any]], Any]

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


class Bridge:
    """Lets a run decide about calls that a framework carries out.

    Args:
        run: decides.
        specs: declarations by name; they outweigh those of the run's breaker.
    """

    def __init__(self, run: BreakerRun, specs: Mapping[str, ToolSpec] | None = None) -> None:
        self.run = run
        self._specs = dict(specs or {})
        self._taken: set[str] = set()

    def take(self, name: str, *, asynchronous: bool, spec: ToolSpec | None = None) -> None:
        """Take a tool in; once is enough.

        Args:
            name: its name.
            asynchronous: whether what it gives is awaited.
            spec: what the tool says about itself; what is declared outweighs it.

        Raises:
            UndeclaredToolError: nobody declared its effect.
        """
        if name in self._taken:
            return
        body = _later(name) if asynchronous else _now(name)
        if spec is not None:
            # Beside the tool, as `@tool_spec` leaves it: the breaker's own table outweighs it.
            vars(body)[ATTRIBUTE] = spec
        self.run.guard({name: body}, self._specs)
        self._taken.add(name)

    def take_all(self, names: Iterable[str], *, asynchronous: bool) -> None:
        """The same for several."""
        for name in names:
            self.take(name, asynchronous=asynchronous)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        native: Native,
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Decide about a call and make it by `native`, or return the refusal."""
        with _reached_by(native):
            return self.run.call(name, arguments, call_id=call_id, agent=agent)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        native: Native,
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """The same for async code."""
        with _reached_by(native):
            return await self.run.acall(name, arguments, call_id=call_id, agent=agent)

    def decide_batch(self, calls: Sequence[ToolCall], native: Native) -> list[Verdict]:
        """Decide about all calls of one message; `native` makes the read that settles a lost write
        among them.
        """
        with _reached_by(native):
            return self.run.decide_batch(calls)

    async def adecide_batch(self, calls: Sequence[ToolCall], native: Native) -> list[Verdict]:
        """The same for async code."""
        with _reached_by(native):
            return await self.run.adecide_batch(calls)

    def carry_out(self, call: ToolCall, verdict: Verdict, native: Native) -> Any:
        """Make a call that `decide_batch` has decided about, or return the refusal."""
        with _reached_by(native):
            return self.run.perform(call, verdict)

    async def acarry_out(self, call: ToolCall, verdict: Verdict, native: Native) -> Any:
        """The same for async code."""
        with _reached_by(native):
            return await self.run.aperform(call, verdict)


@contextmanager
def _reached_by(native: Native) -> Iterator[None]:
    """The framework's tools, for whatever is decided and made meanwhile."""
    token = _NATIVE.set(native)
    try:
        yield
    finally:
        _NATIVE.reset(token)


def is_refused(result: Any) -> bool:
    """Whether a result is the breaker's refusal."""
    return isinstance(result, Mapping) and result.get("refused") is True


def waits_for_yes(result: Any) -> bool:
    """Whether a call waits for a person's first yes, under the id in its `call_id`. One that was
    given before the record changed, or before the write was made by somebody else, answers another
    question; so does one that has run out.
    """
    return is_refused(result) and "call_id" in result and result.get("reason") == Reason.DENIED


def as_text(result: Any) -> str:
    """A result as the model is shown it, where a framework takes text alone."""
    return result if isinstance(result, str) else json.dumps(result, default=str)


def _later(name: str) -> Callable[..., Any]:
    async def body(**arguments: Any) -> Any:
        return await _NATIVE.get()(name, arguments)

    return body


def _now(name: str) -> Callable[..., Any]:
    def body(**arguments: Any) -> Any:
        return _NATIVE.get()(name, arguments)

    return body
