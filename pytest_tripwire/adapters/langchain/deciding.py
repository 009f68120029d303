"""Puts calls that LangChain carries out before a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from threading import Lock
from typing import Any

import msgspec
from langchain_core.tools import BaseTool
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from pytest_tripwire.adapters.bridge import Bridge, waits_for_yes
from pytest_tripwire.adapters.given import Given, without
from pytest_tripwire.adapters.langchain.asking import (
    Asking,
    Round,
    key_of,
    outside_rounds,
    question,
    round_of,
    said_yes,
)
from pytest_tripwire.adapters.langchain.bodies import agent_of
from pytest_tripwire.adapters.langchain.carried import Carried, UnfitArgumentsError
from pytest_tripwire.adapters.langchain.fitting import read
from pytest_tripwire.adapters.langchain.handoffs import how_to_declare, is_hand_off
from pytest_tripwire.adapters.langchain.heard import asked_first
from pytest_tripwire.adapters.langchain.names import refuse_another
from pytest_tripwire.adapters.langchain.results import nothing_yet, problem
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun, UndeclaredToolError
from pytest_tripwire.timeline import Effect, ToolCall, ToolSpec, spec_of


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
        #: Who asks about the calls of a message beforehand, where the node does that.
        self.asking = Asking(run)

    def take(self, tools: Iterable[Any]) -> None:
        """Take tools in. Raises UndeclaredToolError for one that nobody said anything about."""
        with self._lock:
            for tool in tools:
                if isinstance(tool, BaseTool) and tool.name not in self._tools:
                    self._take(tool)
                    self._tools[tool.name] = tool

    def _take(self, tool: Any) -> None:
        known = self._taken(tool.name)
        try:
            # A body that is called and gives an awaitable serves both roads.
            self._bridge.take(tool.name, asynchronous=False, spec=_own_spec(tool))
        except UndeclaredToolError as error:
            how = how_to_declare(tool)
            if how is not None:
                error.add_note(how)
            raise
        spec = self.run.declared(tool.name)
        # These come before anything has run, or say that it is to run again from the start.
        before = (UnfitArgumentsError, GraphInterrupt)
        nothing = tuple(each for each in spec.definite_failures if each not in before)
        extended = msgspec.structs.replace(spec, definite_failures=(*nothing, *before))
        try:
            refuse_another(known, extended)
        except TypeError:
            extended = known or extended
            raise
        finally:
            Bridge(self.run, {tool.name: extended}).take(tool.name, asynchronous=False)

    def _taken(self, tool: str) -> ToolSpec | None:
        """What holds for a tool of this name that was taken in before, by whichever agent. What the
        breaker says of it alone may be outweighed.
        """
        try:
            spec = self.run.declared(tool)
        except KeyError:
            return None
        return spec if UnfitArgumentsError in spec.definite_failures else None

    @property
    def gathers(self) -> bool:
        """Whether the calls of a message are only decided about here and now."""
        round_ = round_of(self.asking)
        return round_ is not None and round_.gathering

    def call(self, request: Any, handler: Any) -> Any:
        """What the model is shown of a call."""
        hears(asked_first(request.state))
        self.take(_tools_of(request))
        given = self._given(request)
        name = request.tool_call["name"]
        carried = Carried(request, self._tools, given, self._spec(name))

        def native(name: str, arguments: dict[str, Any]) -> Any:
            with outside_rounds():
                return carried.answered(name, handler(carried.request(name, arguments)))

        noting, round_ = carried.noting(native), round_of(self.asking)
        if round_ is not None and round_.gathering:
            for call in self._to_gather(request, given, round_):
                (verdict,) = self._bridge.decide_batch([call], noting)
                round_.decided(request, call, verdict)
            return nothing_yet(request)
        before = round_.taken(request) if round_ is not None else None

        def decided() -> Any:
            if before is not None:
                return self._bridge.carry_out(before.call, before.verdict, noting)
            return self._bridge.call(name, given.read, noting, **_whose(request))

        try:
            result = decided() if not self._waits(request) else None
            if round_ is None and self._may_run(request, carried, result):
                result = decided()
        except UnfitArgumentsError as error:
            return problem(request, error)
        except Exception as error:  # noqa: BLE001 - raised again, unless the framework told it
            return carried.failed(error)
        return carried.outcome(result)

    async def acall(self, request: Any, handler: Any) -> Any:
        """The same as a task."""
        hears(asked_first(request.state))
        self.take(_tools_of(request))
        given = self._given(request)
        name = request.tool_call["name"]
        carried = Carried(request, self._tools, given, self._spec(name))

        async def native(name: str, arguments: dict[str, Any]) -> Any:
            with outside_rounds():
                return carried.answered(name, await handler(carried.request(name, arguments)))

        noting, round_ = carried.anoting(native), round_of(self.asking)
        if round_ is not None and round_.gathering:
            for call in self._to_gather(request, given, round_):
                (verdict,) = await self._bridge.adecide_batch([call], noting)
                round_.decided(request, call, verdict)
            return nothing_yet(request)
        before = round_.taken(request) if round_ is not None else None

        async def decided() -> Any:
            if before is not None:
                return await self._bridge.acarry_out(before.call, before.verdict, noting)
            return await self._bridge.acall(name, given.read, noting, **_whose(request))

        try:
            result = await decided() if not self._waits(request) else None
            if round_ is None and self._may_run(request, carried, result):
                result = await decided()
        except UnfitArgumentsError as error:
            return problem(request, error)
        except Exception as error:  # noqa: BLE001 - raised again, unless the framework told it
            return carried.failed(error)
        return carried.outcome(result)

    def _spec(self, name: str) -> ToolSpec | None:
        """What is declared of a tool; None for one that the node does not have."""
        return self.run.declared(name) if name in self._tools else None

    def _given(self, request: Any) -> Given:
        """The arguments of a call as its tool will get them."""
        name, sent = _said(request)
        spec = self._spec(name)
        key = spec.key_argument if spec is not None and spec.mutates else None
        return read(request.tool, sent, key)

    def _to_gather(self, request: Any, given: Given, round_: Round) -> list[ToolCall]:
        """The call, if it is to be decided about before any of its message runs: if it may need a
        person's yes, and does not wait for one already.
        """
        name = request.tool_call["name"]
        if not self.asking.needs_yes(name) or round_.known(request):
            return []
        key = self.run.declared(name).key_argument
        arguments = without(key, given.read)
        whose = _whose(request)
        agent = whose["agent"] or self.run.agent or None
        return [ToolCall(call_id=whose["call_id"], tool=name, arguments=arguments, agent=agent)]

    def _waits(self, request: Any) -> bool:
        """Whether a call was put up for a yes before; then the graph was resumed, and brings the
        answer. To propose it again beforehand would be taken for asking again.
        """
        return key_of(request.tool_call) in self._questions

    def _may_run(self, request: Any, carried: Carried, result: Any) -> bool:
        """Whether to decide about a call afresh, as a person was asked about it. Interrupts the
        graph for the answer, the first time.
        """
        key, call_id = key_of(request.tool_call), request.tool_call["id"]
        if self._ask and not carried.ran and waits_for_yes(result):
            self._questions[key] = question(*_said(request), result)
        if key not in self._questions:
            return False
        if said_yes(interrupt(self._questions[key]), call_id):
            del self._questions[key]
            with suppress(LookupError):  # several calls of one id: nobody knows which was meant
                self.run.approve(call_id)
            return True
        return result is None


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
