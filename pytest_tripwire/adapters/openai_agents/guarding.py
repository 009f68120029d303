"""An agent of the SDK whose calls and hand-offs a run decides about."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Collection, Mapping
from typing import Any

from agents import Model

from pytest_tripwire.adapters.bridge import Bridge, Native, as_text, is_refused, waits_for_yes
from pytest_tripwire.adapters.given import Given
from pytest_tripwire.adapters.openai_agents.approving import has_yes
from pytest_tripwire.adapters.openai_agents.cloning import Cloner
from pytest_tripwire.adapters.openai_agents.fitting import read
from pytest_tripwire.adapters.openai_agents.functions import (
    Body,
    agent_in,
    caller_of,
    parsed,
    raising,
    with_body,
)
from pytest_tripwire.adapters.openai_agents.handing import Asks, Handed
from pytest_tripwire.adapters.openai_agents.hooks import Hooks
from pytest_tripwire.adapters.openai_agents.metered import followed
from pytest_tripwire.adapters.openai_agents.results import Results
from pytest_tripwire.adapters.openai_agents.unseen import Placed, beyond_its_lists
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Effect, ToolSpec, spec_of


def guarded(
    agent: Any,
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    count_model: bool = True,
    unguarded: Collection[str] = (),
) -> Any:
    """A clone of an agent, with all that it can reach, whose calls, hand-offs and model requests
    `run` decides about. Make one for each run; what the run guards already stays as it is.

    Args:
        agent: an `Agent`; it is not changed.
        run: decides.
        specs: declarations by name; they outweigh `@tool_spec` below `@function_tool` and those of
            the breaker. A hand-off that nobody declared is one about the task as a whole.
        count_model: whether model requests are counted; False where somebody else does it.
        unguarded: names of tools that are no functions, of servers of the Model Context Protocol,
            and of agents that get tools when they run or from a stored prompt, that may be kept.
            Nobody decides about their calls.

    Raises:
        UndeclaredToolError: nobody declared what a tool does.
        TypeError: the agent has a tool that cannot be guarded, and it is not in `unguarded`.
    """
    return Cloner(_Guards(run, specs or {}, frozenset(unguarded), count_model=count_model)).clone(
        agent
    )


class _Guards:
    """Puts a run before everything that acts."""

    def __init__(
        self,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec],
        free: frozenset[str],
        *,
        count_model: bool,
    ) -> None:
        self._run, self._specs = run, specs
        self._counts = count_model
        self._placed = Placed(free)
        self._bridge = Bridge(run, specs)
        #: For the reads that settle a lost write, whoever has lost it.
        self._natives: dict[str, Any] = {}
        self._own_specs: dict[str, ToolSpec | None] = {}
        self._declared: dict[str, bool] = {}

    def has(self, agent: Any) -> bool:
        """Whether the run guards an agent already."""
        return isinstance(agent.hooks, Hooks) and agent.hooks.tells(self._run)

    def agent(self, agent: Any, clone: Any) -> None:
        """Tell the run of the agent's model requests."""
        for server in agent.mcp_servers:
            self._placed.need(server.name, f"MCP server of {agent.name!r} named {server.name!r}")
        for what in beyond_its_lists(agent):
            self._placed.need(agent.name, what)
        clone.hooks = Hooks(
            self._run, agent.hooks, count_model=self._counts, check=self._placed.check
        )
        if self._counts and isinstance(agent.model, Model):
            clone.model = followed(agent.model)

    def done(self, clone: Any) -> None:
        """What the agent is given from now on is none of ours."""
        self._placed.take(clone)

    def other(self, tool: Any, owner: Any) -> Any:
        """Whatever is no function runs where nothing can be put before it."""
        what = f"{type(tool).__name__} of {owner.name!r} named {tool.name!r}"
        self._placed.need(tool.name, what)
        return tool

    def tool(self, tool: Any, _owner: Any, cloner: Cloner) -> Any:
        """Ask before a tool runs. Of an agent's tool that nobody declared, that is done inside."""
        declared_by_name = self._is_declared(tool.name)
        if agent_in(tool) is not None:
            tool = cloner.inside(tool)
            if not declared_by_name:
                return tool
        declared = spec_of(getattr(tool, "__wrapped__", None))
        if self._own_specs.setdefault(tool.name, declared) != declared:
            raise TypeError(
                f"two tools of these agents are called {tool.name!r}, and they are declared "
                "differently: a run tells tools apart by their names. Rename one of them"
            )
        self._bridge.take(tool.name, asynchronous=True, spec=declared)
        self._natives[tool.name] = raising(tool)
        new = with_body(tool, self._body(tool))
        # What the breaker wants a yes to is put up by the SDK, which can wait for it; no policy of
        # the team's own says that none is needed.
        if self._run.declared(tool.name).requires_approval:
            return dataclasses.replace(new, needs_approval=True)
        return new

    def _is_declared(self, name: str) -> bool:
        """Whether somebody says by its name what a tool does. Looked up before this guard has taken
        a tool of that name in.
        """
        if name not in self._declared:
            self._declared[name] = name in self._specs or self._breaker_knows(name)
        return self._declared[name]

    def _breaker_knows(self, name: str) -> bool:
        try:
            self._run.declared(name)
        except KeyError:
            return False
        return True

    def handoff(self, given: Any, owner: Any, cloner: Cloner) -> Asks:
        """Ask before the other agent takes over, and before the team's own `on_handoff`."""
        name = given.tool_name
        plain = ToolSpec(name=name, effect=Effect.HANDOFF, operation="handoff", identity=())
        self._bridge.take(name, asynchronous=True, spec=plain)

        async def asks(context: Any, raw: str) -> Handed:
            found: list[Any] = []

            async def native(_name: str, _arguments: dict[str, Any]) -> Any:
                found.append(cloner.clone(await given.on_invoke_handoff(context, raw)))
                return {"assistant": found[0].name}

            arguments = parsed(name, raw)
            result = await self._bridge.acall(name, arguments, native, agent=owner.name)
            if is_refused(result):
                return owner, as_text(result)
            as_ever = result == {"assistant": found[0].name}
            return found[0], None if as_ever else as_text(result)

        return asks

    def _body(self, tool: Any) -> Body:
        async def body(context: Any, raw: str) -> Any:
            arguments = parsed(tool.name, raw)
            given = read(tool, context, raw, arguments, self._key_of(tool.name))
            results = Results()
            native = self._native(tool, context, raw, given, results)
            result = await self._ask(tool.name, given.read, native, context)
            call_id = context.tool_call_id
            own = results.is_own(result)
            if not own and waits_for_yes(result) and has_yes(context, tool.name, call_id):
                # The person has been asked by the SDK, and has said yes to this very call.
                self._run.approve(call_id)
                result = await self._ask(tool.name, given.read, native, context)
            return results.shown(result)

        # A policy that asks for approval is shown the arguments as the tool will get them.
        prepare = getattr(tool.on_invoke_tool, "prepare_arguments", None)
        if prepare is not None:
            vars(body)["__agents_prepare_arguments__"] = prepare
        return body

    async def _ask(self, name: str, arguments: dict[str, Any], native: Native, context: Any) -> Any:
        return await self._bridge.acall(
            name, arguments, native, call_id=context.tool_call_id, agent=caller_of(context)
        )

    def _native(self, own: Any, context: Any, raw: str, given: Given, results: Results) -> Native:
        async def native(called: str, arguments: dict[str, Any]) -> Any:
            # Another agent may have a tool of the same name and another body.
            tool = raising(own) if called == own.name else self._natives[called]
            sent = given.carried(arguments) if called == own.name else arguments
            if called == own.name and sent == given.sent:
                return results.seen(await tool.on_invoke_tool(context, raw))
            other = _other_call(context, called, sent)
            return results.seen(await tool.on_invoke_tool(*other))

        return native

    def _key_of(self, name: str) -> str | None:
        spec = self._run.declared(name)
        return spec.key_argument if spec.mutates else None


def _other_call(context: Any, name: str, arguments: dict[str, Any]) -> tuple[Any, str]:
    """The context and the arguments of a call that the model did not make in these words."""
    raw = json.dumps(arguments)
    other = copy.copy(context)
    other.tool_name, other.tool_arguments = name, raw
    # What the SDK has prepared is of the call that the model made.
    other._function_tool_arguments = None  # noqa: SLF001 - the SDK refuses what does not fit
    return other, raw
