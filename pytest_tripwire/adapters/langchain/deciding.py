"""Puts calls that LangChain carries out before a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

import msgspec
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import interrupt
from pydantic import ValidationError

from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.langchain.adopting import is_hand_off
from pytest_tripwire.adapters.langchain.bodies import agent_of
from pytest_tripwire.adapters.langchain.results import hinted, problem, refusal, seen
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Effect, ToolSpec, spec_of


class UnfitArgumentsError(ValueError):
    """A tool's schema does not take the arguments; the tool did not run."""


class Deciding:
    """Asks a run about each call, and lets the framework carry out what is allowed.

    Args:
        run: decides.
        specs: declarations by name.
        ask: whether a call that needs a person's yes interrupts the graph to get it.
    """

    def __init__(self, run: BreakerRun, specs: Mapping[str, ToolSpec] | None, *, ask: bool) -> None:
        self.run = run
        self._bridge = Bridge(run, specs)
        self._ask = ask
        self._tools: dict[str, Any] = {}
        self._questions: dict[str, dict[str, Any]] = {}
        self._lock = Lock()

    def take(self, tools: Iterable[Any]) -> None:
        """Take tools in. Raises UndeclaredToolError for one that nobody said anything about."""
        with self._lock:
            for tool in tools:
                if isinstance(tool, BaseTool) and tool.name not in self._tools:
                    self._take(tool)
                    self._tools[tool.name] = tool

    def _take(self, tool: Any) -> None:
        # A body that is called and gives an awaitable serves both roads.
        self._bridge.take(tool.name, asynchronous=False, spec=_own_spec(tool))
        spec = self.run.declared(tool.name)
        # These come before anything has run, or say that it is to run again from the start.
        nothing = (*spec.definite_failures, UnfitArgumentsError, GraphInterrupt)
        extended = msgspec.structs.replace(spec, definite_failures=nothing)
        Bridge(self.run, {tool.name: extended}).take(tool.name, asynchronous=False)

    def call(self, request: Any, handler: Any) -> Any:
        """What the model is shown of a call."""
        self.take(_tools_of(request))
        carried = _Carried(request, self._tools)

        def native(name: str, arguments: dict[str, Any]) -> Any:
            return carried.answered(name, handler(carried.request(name, arguments)))

        def decided() -> Any:
            return self._bridge.call(*_said(request), carried.noting(native), **_whose(request))

        try:
            result = decided() if not self._waits(request) else None
            if self._may_run(request, carried, result):
                result = decided()
        except UnfitArgumentsError as error:
            return problem(request, error)
        return carried.outcome(result)

    async def acall(self, request: Any, handler: Any) -> Any:
        """The same as a task."""
        self.take(_tools_of(request))
        carried = _Carried(request, self._tools)

        async def native(name: str, arguments: dict[str, Any]) -> Any:
            return carried.answered(name, await handler(carried.request(name, arguments)))

        async def decided() -> Any:
            noting = carried.anoting(native)
            return await self._bridge.acall(*_said(request), noting, **_whose(request))

        try:
            result = await decided() if not self._waits(request) else None
            if self._may_run(request, carried, result):
                result = await decided()
        except UnfitArgumentsError as error:
            return problem(request, error)
        return carried.outcome(result)

    def _waits(self, request: Any) -> bool:
        """Whether a call was put up for a yes before; then the graph was resumed, and brings the
        answer. To propose it again beforehand would be taken for asking again.
        """
        asked = self._questions.get(request.tool_call["id"])
        # Models give one id to several calls.
        return asked is not None and (asked["tool"], asked["args"]) == _said(request)

    def _may_run(self, request: Any, carried: _Carried, result: Any) -> bool:
        """Whether to decide about a call afresh, as a person was asked about it. Interrupts the
        graph for the answer, the first time.
        """
        call_id = request.tool_call["id"]
        # Of all refusals, one that waits for a yes alone has the call's id.
        if self._ask and result is not None and not carried.ran and "call_id" in result:
            self._questions[call_id] = _question(request, result)
        if not self._waits(request):
            return False
        if _said_yes(interrupt(self._questions[call_id])):
            del self._questions[call_id]
            self.run.approve(call_id)
            return True
        return result is None


class _Carried:
    """One call that the framework carries out, and what came of it."""

    def __init__(self, request: Any, tools: Mapping[str, Any]) -> None:
        self._request, self._tools = request, tools
        self._answer: Any = None
        self._left: GraphBubbleUp | None = None
        self.ran = False

    def request(self, name: str, arguments: dict[str, Any]) -> Any:
        """The request for the call itself, or for the read that settles a lost write."""
        own = self._request.tool_call
        if name == own["name"]:
            check(self._request.tool, arguments)
            return self._request.override(tool_call={**own, "args": arguments})
        call = {**own, "name": name, "args": arguments, "id": f"{own['id']}-{name}"}
        return self._request.override(tool_call=call, tool=self._tools.get(name))

    def answered(self, name: str, answer: Any) -> Any:
        """Take an answer down; returns what the breaker is told of it."""
        told = seen(answer)
        if name == self._request.tool_call["name"]:
            self._answer, self.ran = answer, True
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

    def outcome(self, result: Any) -> Any:
        """What the framework gets of what the run has given."""
        if self._left is not None:
            raise self._left
        return hinted(self._answer, result) if self.ran else refusal(self._request, result)


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


def _own_spec(tool: Any) -> ToolSpec | None:
    """What a tool says about itself."""
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    declared = spec_of(function) if function is not None else None
    if declared is None and is_hand_off(tool):
        return ToolSpec(name=tool.name, effect=Effect.HANDOFF)
    return declared


def _tools_of(request: Any) -> list[Any]:
    """The tools of the node that carries a call out, and the call's own."""
    others = getattr(request.runtime, "tools", None) or []
    return [*others, request.tool]


def _said(request: Any) -> tuple[str, dict[str, Any]]:
    return request.tool_call["name"], request.tool_call["args"]


def _whose(request: Any) -> dict[str, Any]:
    config = getattr(request.runtime, "config", None)
    return {"call_id": request.tool_call["id"], "agent": agent_of(config)}


def _question(request: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    call = request.tool_call
    return {"tool": call["name"], "args": call["args"], **result}


def _said_yes(answer: Any) -> bool:
    if isinstance(answer, Mapping):
        return answer.get("approved") is True or answer.get("type") == "approve"
    return answer is True or answer == "approve"
