"""The Agent Development Kit: its tools and agents with other bodies, and its agents guarded."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.tools import AgentTool, BaseTool, FunctionTool, TransferToAgentTool
from google.genai import types

from pytest_tripwire.adapters.adoption import Adoption, Described
from pytest_tripwire.adapters.bridge import Bridge, Caller, Native, waits_for_yes
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Effect, ToolSpec, spec_of

#: Answers a call: its arguments, and the kit's context of it.
Body: TypeAlias = Callable[[dict[str, Any], Any], Awaitable[Any]]
#: These do what their tools and sub-agents do, and nothing besides.
AGENTS = (LlmAgent, SequentialAgent, ParallelAgent, LoopAgent)


class StoppedError(RuntimeError):
    """Ends the kit's run before its next model request, as the breaker has stopped."""


class _NotBegunError(Exception):
    """A tool has answered, `args[0]`, and has not begun: it waits, or the arguments do not fit."""


def tools(caller: Caller, described: Iterable[Described]) -> list[Any]:
    """`BaseTool`s that a caller answers. What it raises ends the agent's run, as with any tool of
    the kit's, unless an `on_tool_error_callback` tells the model of it.
    """
    return [_with_body(_Shown(each), _calling(caller, each.name)) for each in described]


def definition(tool: Any) -> dict[str, Any]:
    """What a model is shown of a tool. Raises TypeError if that is no function."""
    shown = tool._get_declaration()  # noqa: SLF001 - the kit tells it nowhere else
    if shown is None:
        raise TypeError("its model is shown no function")
    schema = shown.parameters_json_schema
    if schema is None and shown.parameters is not None:
        plain = shown.parameters.json_schema
        schema = plain.model_dump(mode="json", by_alias=True, exclude_none=True)
    named = {"name": tool.name, "description": shown.description or tool.name}
    return {**named, "parameters": schema or {"type": "object", "properties": {}}}


def adopt(thing: Any, adoption: Adoption) -> Any:
    """A clone of an agent and all that it can reach, or of tools, whose bodies are the caller's.
    Transfers stay the kit's own. Raises TypeError for what can have no other body.
    """

    def body(tool: Any, owner: str) -> Body | None:
        if isinstance(tool, AgentTool) and not adoption.knows(tool.name):
            return None
        adoption.need(tool.name, owner)
        return _calling(adoption.caller, tool.name)

    return _Cloner(body).of(thing)


def guarded(
    thing: Any,
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    count_model: bool = True,
    unguarded: Collection[str] = (),
) -> Any:
    """A clone of an agent and all that it can reach, whose calls, transfers and model requests
    `run` decides about; or of a tool, or a list of tools. Make one for each run.

    Args:
        thing: the agent at the root, or tools; nothing of it is changed.
        run: decides.
        specs: declarations by name; they outweigh `@tool_spec` and those of the breaker.
        count_model: whether model requests are counted; False where somebody else does it.
        unguarded: what may stay though nobody decides about it, by the names of the TypeError.

    Raises:
        UndeclaredToolError: nobody declared what a tool does.
        TypeError: it has something that cannot be guarded.
    """
    guards = _Guards(run, specs or {}, count_model=count_model)
    return _Cloner(guards.body, guards.callbacks, unguarded).of(thing)


class _Cloner:
    """Clones a tree of agents, with another body for each tool where `body` gives one."""

    def __init__(
        self,
        body: Callable[[Any, str], Body | None],
        callbacks: Callable[[Any], dict[str, Any]] = lambda _agent: {},
        free: Collection[str] = (),
    ) -> None:
        self._body, self._callbacks, self._free = body, callbacks, free
        self._clones: dict[int, Any] = {}

    def of(self, thing: Any) -> Any:
        if isinstance(thing, list | tuple):
            return [self._tool(each, "these tools") for each in thing]
        return self._agent(thing) if hasattr(thing, "sub_agents") else self._tool(thing, "yours")

    def _agent(self, agent: Any) -> Any:
        if id(agent) not in self._clones:
            if not isinstance(agent, AGENTS):
                self._refuse(agent.name, type(agent).__name__)
            below = [self._agent(each) for each in agent.sub_agents]
            self._clones[id(agent)] = clone = agent.clone({"sub_agents": below})
            if isinstance(agent, LlmAgent):
                if agent.code_executor is not None:
                    self._refuse("code_executor", agent.name)
                clone.tools = [self._tool(each, agent.name) for each in agent.tools]
                for name, callbacks in self._callbacks(clone).items():
                    setattr(clone, name, callbacks)
        return self._clones[id(agent)]

    def _tool(self, given: Any, owner: str) -> Any:
        is_plain = callable(given) and not isinstance(given, BaseTool)
        tool = FunctionTool(given) if is_plain else given
        # A toolset has its tools in a run alone; a generator works when nobody looks any more; what
        # is shown to the model as no function is run by the model's provider.
        shown = isinstance(tool, BaseTool) and tool._get_declaration()  # noqa: SLF001 - as above
        if not shown or inspect.isasyncgenfunction(getattr(tool, "func", None)):
            self._refuse(getattr(tool, "name", type(tool).__name__), owner)
            return given
        body = self._body(tool, owner)
        if body is not None:
            return _with_body(tool, body)
        clone = copy.copy(tool)
        clone.agent = self._agent(tool.agent)
        return clone

    def _refuse(self, name: str, owner: str) -> None:
        if name not in self._free:
            raise TypeError(
                f"nothing can be put before what {name!r} of {owner!r} does. Leave it out, give "
                f"the tools of a toolset in its place, or, if it only reads, pass "
                f"unguarded=[{name!r}] to guarded()"
            )


class _Guards:
    """Puts a run before everything that acts."""

    def __init__(
        self, run: BreakerRun, specs: Mapping[str, ToolSpec], *, count_model: bool
    ) -> None:
        self._run, self._specs, self._counts = run, specs, count_model
        #: By name; whoever has lost a write, any of them may be read to settle it.
        self._natives: dict[str, Any] = {}
        self._bridges: dict[str, Bridge] = {}
        self._own: dict[str, ToolSpec | None] = {}

    def body(self, tool: Any, _owner: str) -> Body | None:
        if isinstance(tool, AgentTool) and tool.name not in self._specs:
            return None
        self._take(tool.name, spec_of(getattr(tool, "func", None)))
        self._natives[tool.name] = tool
        return functools.partial(self._answer, tool)

    def callbacks(self, agent: LlmAgent) -> dict[str, Any]:
        """Ours come last before something is done, and first after."""
        changed = {"before_tool_callback": [*agent.canonical_before_tool_callbacks, self._transfer]}
        if not self._counts:
            return changed
        return changed | {
            "before_model_callback": [*agent.canonical_before_model_callbacks, self._opened],
            "after_model_callback": [self._paid, *agent.canonical_after_model_callbacks],
            "on_model_error_callback": [self._failed, *agent.canonical_on_model_error_callbacks],
        }

    def _take(self, name: str, own: ToolSpec | None) -> None:
        if self._own.setdefault(name, own) != own:
            raise TypeError(
                f"two tools of these agents are called {name!r}, and they are declared "
                "differently: a run tells tools apart by their names. Rename one of them"
            )
        Bridge(self._run, self._specs).take(name, asynchronous=True, spec=own)
        spec = self._run.declared(name)
        failures = (*spec.definite_failures, _NotBegunError)
        spec = msgspec.structs.replace(spec, definite_failures=failures)
        self._bridges[name] = Bridge(self._run, {name: spec})
        self._bridges[name].take(name, asynchronous=True)

    async def _answer(self, tool: Any, args: dict[str, Any], context: Any) -> Any:
        async def native(called: str, given: dict[str, Any]) -> Any:
            own = tool if called == tool.name else self._natives[called]
            return await _run(own, given, context)

        asks = _calling(self._bridges[tool.name], tool.name, native)
        said = context.tool_confirmation
        yes = said is not None and said.confirmed
        if yes:
            with contextlib.suppress(LookupError):  # it was put up by the tool, or in another run
                self._run.approve(context.function_call_id)
        try:
            result = await asks(args, context)
            if waits_for_yes(result) and yes:
                self._run.approve(result["call_id"])
                result = await asks(args, context)
            elif waits_for_yes(result) and said is None:
                context.request_confirmation(hint=result["message"])
                context.actions.skip_summarization = True
        except _NotBegunError as answered:
            return answered.args[0]
        return result

    async def _transfer(self, tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        """The kit makes the tool that transfers anew for each request: it is answered here."""
        if not isinstance(tool, TransferToAgentTool):
            return None
        if tool.name not in self._bridges:
            self._take(
                tool.name,
                ToolSpec(name=tool.name, effect=Effect.HANDOFF, operation="handoff", identity=()),
            )
        result = await self._answer(tool, args, tool_context)
        return {"result": None} if result is None else result

    def _opened(self, *_: Any, **__: Any) -> None:
        verdict = self._run.before_model()
        if not verdict.allowed:
            raise StoppedError(verdict.message)

    def _paid(self, callback_context: Any, llm_response: Any) -> None:
        del callback_context
        if not llm_response.partial:
            parts = llm_response.content.parts if llm_response.content else None
            text = "".join(each.text or "" for each in parts or [])
            self._run.after_model(_usage(llm_response), text, llm_response.model_version)

    def _failed(self, *_: Any, **__: Any) -> None:
        self._run.model_failed()


class _Shown(BaseTool):
    def __init__(self, described: Described) -> None:
        super().__init__(name=described.name, description=described.description)
        self._parameters = dict(described.parameters)

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._parameters,
        )


def _with_body(tool: Any, body: Body) -> Any:
    clone = copy.copy(tool)
    clone.run_async = lambda *, args, tool_context: body(args, tool_context)
    return clone


def _calling(caller: Any, name: str, *native: Native) -> Body:
    async def body(args: dict[str, Any], context: Any) -> Any:
        call_id, agent = context.function_call_id, context.agent_name
        return await caller.acall(name, args, *native, call_id=call_id, agent=agent)

    return body


async def _run(tool: Any, args: dict[str, Any], context: Any) -> Any:
    """What a tool gives. Raises _NotBegunError if its function was not reached, or if it asks a
    person first.
    """
    reached = not isinstance(tool, FunctionTool)
    if not reached:
        tool, own = copy.copy(tool), tool.func

        @functools.wraps(own)
        def noted(*given: Any, **named: Any) -> Any:
            nonlocal reached
            reached = True
            return own(*given, **named)

        tool.func = noted
    result = await tool.run_async(args=args, tool_context=context)
    asked = context.actions.requested_tool_confirmations or context.actions.requested_auth_configs
    if not reached or asked:
        raise _NotBegunError(result)
    return result


def _usage(response: Any) -> Usage:
    """What a request used; thoughts are paid for as words are."""
    used = response.usage_metadata
    if used is None or not used.total_token_count:
        return Usage()
    return Usage(
        prompt_tokens=used.prompt_token_count,
        completion_tokens=(used.candidates_token_count or 0) + (used.thoughts_token_count or 0),
        cached_tokens=used.cached_content_token_count,
    )
