"""One call that LangChain carries out for a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langgraph.errors import GraphBubbleUp, GraphInterrupt
from pydantic import ValidationError

from pytest_tripwire.adapters.given import Given
from pytest_tripwire.adapters.langchain.noting import Noting
from pytest_tripwire.adapters.langchain.results import hinted, is_error, refusal, seen
from pytest_tripwire.timeline import ToolSpec
from pytest_tripwire.timeline.spec import Failure


class UnfitArgumentsError(ValueError):
    """A tool's schema does not take the arguments; the tool did not run."""


class Carried:
    """One call that the framework carries out, and what came of it."""

    def __init__(
        self, request: Any, tools: Mapping[str, Any], given: Given, spec: ToolSpec | None
    ) -> None:
        self._request, self._tools, self._given = request, tools, given
        self._noting = Noting(() if spec is None else _declared(spec))
        self._failure: BaseException | None = None
        self._answer: Any = None
        self._left: GraphBubbleUp | None = None
        self.ran = False

    def request(self, name: str, arguments: dict[str, Any]) -> Any:
        """The request for the call itself, or for the read that settles a lost write."""
        own = self._request.tool_call
        if name == own["name"]:
            sent = self._given.carried(arguments)
            check(self._request.tool, sent)
            tool = self._noting.tool(self._request.tool)
            return self._request.override(tool_call={**own, "args": sent}, tool=tool)
        call = {**own, "name": name, "args": arguments, "id": f"{own['id']}-{name}"}
        return self._request.override(tool_call=call, tool=self._tools.get(name))

    def answered(self, name: str, answer: Any) -> Any:
        """Take an answer down; returns what the breaker is told of it. Raises what the tool has
        raised, where that is declared and the framework has made a message of it.
        """
        told = seen(answer)
        if name == self._request.tool_call["name"]:
            self._answer, self.ran = answer, True
            self._failure = self._noting.failure() if is_error(answer) else None
            if self._failure is not None:
                raise self._failure
        elif isinstance(told, Mapping) and told.get("is_error") is True:
            # A failed read proves nothing, however politely the framework words it.
            raise RuntimeError(f"the read {name!r} failed: {told['content']}")
        return told

    def noting(self, native: Any) -> Any:
        """`native`, where leaving the graph by a hand-off counts as done."""

        def noted(name: str, arguments: dict[str, Any]) -> Any:
            try:
                return native(name, arguments)
            except GraphInterrupt:
                raise
            except GraphBubbleUp as left:
                return self._leaving(left)

        return noted

    def anoting(self, native: Any) -> Any:
        """The same for async code."""

        async def noted(name: str, arguments: dict[str, Any]) -> Any:
            try:
                return await native(name, arguments)
            except GraphInterrupt:
                raise
            except GraphBubbleUp as left:
                return self._leaving(left)

        return noted

    def _leaving(self, left: GraphBubbleUp) -> str:
        self._left = left
        return "handed over"

    def failed(self, error: Exception) -> Any:
        """What the framework gets where a call has raised: its own message, where it has made one
        of the error. Raises any other.
        """
        if error is not self._failure:
            raise error
        return self._answer

    def outcome(self, result: Any) -> Any:
        """What the framework gets of what the run has given."""
        if self._left is not None:
            raise self._left
        return hinted(self._answer, result) if self.ran else refusal(self._request, result)


def _declared(spec: ToolSpec) -> tuple[Failure, ...]:
    """What a tool may raise that says what has become of the call, as its team has declared."""
    ours = (UnfitArgumentsError, GraphInterrupt)
    return tuple(each for each in (*spec.definite_failures, *spec.denials) if each not in ours)


def check(tool: Any, arguments: dict[str, Any]) -> None:
    """See that a tool takes its arguments, before it counts as begun. Raises
    UnfitArgumentsError.
    """
    schema: Any = tool.tool_call_schema if tool is not None else None
    if not hasattr(schema, "model_validate"):  # a schema as JSON is not looked at by the framework
        return
    try:
        schema.model_validate(arguments)
    except ValidationError as error:
        raise UnfitArgumentsError(str(error)) from None
