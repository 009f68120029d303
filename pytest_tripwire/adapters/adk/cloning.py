"""Agents are cloned with all that they can reach; nothing of the team's own is changed."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Collection
from typing import Any, Protocol, TypeAlias

from google.adk.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from google.adk.tools import BaseTool, FunctionTool

from pytest_tripwire.adapters.graphs import Clones, Unguarded
from pytest_tripwire.breaker.conversation import asked, inside
from pytest_tripwire.guard.calling import is_generator

#: Answers a call: its arguments, and the kit's context of it.
Body: TypeAlias = Callable[[dict[str, Any], Any], Awaitable[Any]]
#: These do what their tools and sub-agents do, and nothing besides.
AGENTS = (LlmAgent, SequentialAgent, ParallelAgent, LoopAgent)
_INSTEAD = "give the tools of a toolset in its place"


class Takes(Protocol):
    """Says what becomes of what an agent has."""

    def tool(self, tool: Any, owner: str, cloner: Cloner) -> Any:
        """A tool's copy."""

    def agent(self, clone: Any) -> None:
        """An agent's clone has its tools."""


class Cloner:
    """Clones a tree of agents.

    Args:
        takes: says what becomes of their tools.
        unguarded: what may stay though it can have no other body.
    """

    def __init__(self, takes: Takes, unguarded: Collection[str] = ()) -> None:
        self._takes, self._unguarded = takes, Unguarded(unguarded)
        self._clones = Clones()

    def of(self, thing: Any) -> Any:
        """The clone of an agent, of a tool, or of a list of tools."""
        if isinstance(thing, list | tuple):
            return [self._tool(each, "these tools") for each in thing]
        return self._agent(thing) if hasattr(thing, "sub_agents") else self._tool(thing, "yours")

    def inside(self, tool: Any) -> Any:
        """The copy of a tool that runs the clone of the agent inside."""
        clone = copy.copy(tool)
        clone.agent = self._agent(tool.agent)
        if "run_async" not in vars(clone) or getattr(clone, "tripwire_apart", False):
            clone.run_async = _apart(clone)
            clone.tripwire_apart = True
        return clone

    def _agent(self, agent: Any) -> Any:
        return self._clones.of(agent, lambda own: own.clone({"sub_agents": []}), self._fill)

    def _fill(self, agent: Any, clone: Any) -> None:
        if not isinstance(agent, AGENTS):
            self._unguarded.need(agent.name, type(agent).__name__, _INSTEAD)
        clone.sub_agents = [self._agent(each) for each in agent.sub_agents]
        for each in clone.sub_agents:
            each.parent_agent = clone
        if isinstance(agent, LlmAgent):
            if agent.code_executor is not None:
                self._unguarded.need("code_executor", agent.name, _INSTEAD)
            clone.tools = [self._tool(each, agent.name) for each in agent.tools]
            self._takes.agent(clone)

    def _tool(self, given: Any, owner: str) -> Any:
        is_plain = callable(given) and not isinstance(given, BaseTool)
        tool = FunctionTool(given) if is_plain else given
        # A toolset has its tools in a run alone; a generator works when nobody looks any more; what
        # is shown to the model as no function is run by the model's provider.
        if isinstance(tool, BaseTool) and declaration_of(tool) and not _works_on(tool):
            return self._takes.tool(tool, owner, self)
        self._unguarded.need(getattr(tool, "name", type(tool).__name__), owner, _INSTEAD)
        return given


def declaration_of(tool: Any) -> Any:
    """What a model is shown of a tool; None if that is no function."""
    return tool._get_declaration()  # noqa: SLF001 - the kit tells it nowhere else


def with_body(tool: Any, body: Body, asks: object = None) -> Any:
    """A copy of a tool with another body. `asks`: the run that decides about it, if one does."""
    clone = copy.copy(tool)
    clone.run_async = lambda *, args, tool_context: body(args, tool_context)
    clone.tripwire_asks = asks
    return clone


def _apart(tool: Any) -> Any:
    """What an agent inside says and reads is a conversation of its own for each input."""

    async def apart(*, args: dict[str, Any], tool_context: Any) -> Any:
        with inside(asked(tool.name, args)):
            return await type(tool).run_async(tool, args=args, tool_context=tool_context)

    return apart


def asks(tool: object, run: object) -> bool:
    """Whether a run decides about a tool already."""
    return getattr(tool, "tripwire_asks", None) is run


def _works_on(tool: Any) -> bool:
    """Whether its function works on after it has returned."""
    function = getattr(tool, "func", None)
    called = getattr(type(function), "__call__", None)  # noqa: B004 - the method itself is looked at
    return any(is_generator(each) for each in (function, called) if each is not None)
