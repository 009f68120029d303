"""Tools and agents whose bodies are somebody else's: a case's world, for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents import Agent, FunctionTool

from pytest_tripwire.adapters.adoption import Adoption, Described
from pytest_tripwire.adapters.bridge import Caller, as_text, is_refused
from pytest_tripwire.adapters.openai_agents.cloning import Cloner
from pytest_tripwire.adapters.openai_agents.functions import (
    Body,
    agent_in,
    caller_of,
    new_tool,
    parsed,
    with_body,
    without_agent,
)
from pytest_tripwire.adapters.openai_agents.handing import Asks, Handed, target_of
from pytest_tripwire.adapters.openai_agents.unseen import beyond_its_lists


def tools(caller: Caller, described: Sequence[Described]) -> list[Any]:
    """`FunctionTool`s that a caller answers, as `function_tool` would make them.

    Args:
        caller: calls the bodies.
        described: what the model is shown.
    """
    return [
        new_tool(each.name, each.description, dict(each.parameters), _body(each.name, caller))
        for each in described
    ]


def adopt(agent: Any, adoption: Adoption) -> Any:
    """A clone of an agent, with all that it can reach, or of one function tool. Names, schemas and
    options stay; the bodies are the caller's.

    Raises:
        TypeError: for anything else of the SDK's.
    """
    cloner = Cloner(_Adopts(adoption))
    if isinstance(agent, Agent):
        return cloner.clone(agent)
    if isinstance(agent, FunctionTool):
        return cloner.tool(agent, None)
    raise TypeError(f"a {type(agent).__name__} cannot be adopted: give an Agent or a FunctionTool")


class _Adopts:
    """Gives everything the caller's body."""

    def __init__(self, adoption: Adoption) -> None:
        self._adoption = adoption

    def has(self, _agent: Any) -> bool:
        """Each is taken over anew."""
        return False

    def agent(self, agent: Any, _clone: Any) -> None:
        """Tools of a server of the Model Context Protocol are not there before it is asked."""
        for server in agent.mcp_servers:
            self._adoption.need(f"everything of the MCP server {server.name}", agent.name)
        for what in beyond_its_lists(agent):
            self._adoption.need(what, agent.name)

    def done(self, clone: Any) -> None:
        """Nothing is left to be done."""

    def tool(self, tool: Any, owner: Any, cloner: Cloner) -> Any:
        """A tool that plays no role is told, unless an agent is inside."""
        if agent_in(tool) is not None and not self._adoption.knows(tool.name):
            return cloner.inside(tool)
        self._need(tool, owner)
        return with_body(without_agent(tool), _body(tool.name, self._adoption.caller))

    def other(self, tool: Any, owner: Any) -> Any:
        """What the provider runs can have no other body."""
        self._need(tool, owner)
        return tool

    def handoff(self, given: Any, owner: Any, cloner: Cloner) -> Asks:
        """One that plays a role asks first; any other leads to the clone of where it led."""

        async def asks(context: Any, raw: str) -> Handed:
            name = given.tool_name
            if self._adoption.knows(name):
                arguments = parsed(name, raw)
                result = await self._adoption.caller.acall(name, arguments, agent=owner.name)
                target = target_of(given)
                if is_refused(result):
                    return owner, as_text(result)
                if target is not None:
                    return cloner.clone(target), as_text({"assistant": target.name, **result})
            found = cloner.clone(await given.on_invoke_handoff(context, raw))
            # It may have led to an agent that nobody has seen before.
            self._adoption.check()
            return found, None

        return asks

    def _need(self, tool: Any, owner: Any) -> None:
        self._adoption.need(tool.name, owner.name if owner is not None else "")


def _body(name: str, caller: Caller) -> Body:
    async def body(context: Any, raw: str) -> Any:
        arguments = parsed(name, raw)
        call_id, agent = context.tool_call_id, caller_of(context)
        return as_text(await caller.acall(name, arguments, call_id=call_id, agent=agent))

    return body
