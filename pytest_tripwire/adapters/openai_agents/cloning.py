"""Agents are cloned with all that they can reach; nothing of the team's own is changed."""

from __future__ import annotations

from typing import Any, Protocol

from agents import Agent, FunctionTool

from pytest_tripwire.adapters.openai_agents.functions import agent_in, with_agent
from pytest_tripwire.adapters.openai_agents.handing import Asks, as_handoff, asked, target_of


class Takes(Protocol):
    """Says what becomes of what an agent has."""

    def has(self, agent: Any) -> bool:
        """Whether an agent is a clone of this kind already."""

    def agent(self, agent: Any, clone: Any) -> None:
        """Look at an agent before its tools are taken."""

    def done(self, clone: Any) -> None:
        """An agent's clone has all that it gets."""

    def tool(self, tool: Any, owner: Any, cloner: Cloner) -> Any:
        """A function tool's copy."""

    def other(self, tool: Any, owner: Any) -> Any:
        """What becomes of a tool that is no function."""

    def handoff(self, given: Any, owner: Any, cloner: Cloner) -> Asks:
        """What answers a hand-off."""


class Cloner:
    """Owner of the clones of one graph of agents, which may have cycles."""

    def __init__(self, takes: Takes) -> None:
        self._takes = takes
        # With the agent, so that no other gets its id.
        self._clones: dict[int, tuple[Any, Any]] = {}

    def clone(self, agent: Any) -> Any:
        """The clone of an agent, the same each time."""
        found = self._clones.get(id(agent))
        if found is not None:
            return found[1]
        if self._takes.has(agent):
            return agent
        clone = agent.clone(tools=[], handoffs=[])
        self._clones[id(agent)] = (agent, clone)
        self._takes.agent(agent, clone)
        clone.tools = [self.tool(each, clone) for each in agent.tools]
        clone.handoffs = [self._handoff(each, clone) for each in agent.handoffs]
        self._takes.done(clone)
        return clone

    def tool(self, tool: Any, owner: Any) -> Any:
        """The copy of a tool; `owner` is None for one that is no agent's."""
        if not isinstance(tool, FunctionTool):
            return self._takes.other(tool, owner)
        return self._takes.tool(tool, owner, self)

    def inside(self, tool: Any) -> Any:
        """The copy of a tool that runs the clone of the agent inside; any other as it is."""
        agent = agent_in(tool)
        return tool if agent is None else with_agent(tool, self.clone(agent))

    def _handoff(self, entry: Any, owner: Any) -> Any:
        given = as_handoff(entry)
        target = target_of(given)
        cloned = self.clone(target) if isinstance(target, Agent) else None
        return asked(given, self._takes.handoff(given, owner, self), cloned)
