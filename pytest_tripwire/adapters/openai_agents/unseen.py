"""What an agent can call that nothing can be put before."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from agents import Agent, FunctionTool, Handoff


def beyond_its_lists(agent: Any) -> Iterator[str]:
    """What an agent may call that stands neither among its tools nor among its servers."""
    kind = type(agent)
    own = (kind.get_all_tools, kind.get_mcp_tools)
    if own != (Agent.get_all_tools, Agent.get_mcp_tools):
        yield f"tools that {agent.name!r} gets when it runs, as every {kind.__name__} does,"
    if agent.prompt is not None:
        yield f"tools in the stored prompt of {agent.name!r}"


class Placed:
    """Knows what a guard has put before an agent's tools and hand-offs, and so what somebody has
    given to the agent since.

    Args:
        free: names of what may run unseen.
    """

    def __init__(self, free: Collection[str]) -> None:
        self._free = free
        # Kept, so that no other gets the id of one.
        self._bodies: dict[int, Any] = {}

    def take(self, agent: Any) -> None:
        """All that an agent has now was put there by the guard."""
        for each in (*agent.tools, *agent.handoffs):
            body = _body(each)
            self._bodies[id(body)] = body

    def need(self, name: str, what: str) -> None:
        """Raise TypeError for what cannot be guarded, unless it may run unseen."""
        if name not in self._free:
            raise TypeError(
                f"the {what} cannot be guarded: nothing can be put before such calls. Leave it "
                f"out, or pass unguarded=[{name!r}] if it only reads"
            )

    def check(self, agent: Any) -> None:
        """Raise TypeError if an agent has got something that nobody decides about. Copies of what
        is guarded are guarded too.
        """
        for each in (*agent.tools, *agent.handoffs, *agent.mcp_servers):
            name = each.tool_name if isinstance(each, Handoff) else each.name
            may = name in self._free and not isinstance(each, Handoff | Agent)
            if not may and id(_body(each)) not in self._bodies:
                raise TypeError(
                    f"{name!r} was given to the agent {agent.name!r} after it was guarded, and "
                    "nobody would decide about its calls. Give it to the agent before guarded()"
                )


def _body(thing: Any) -> Any:
    """What runs when a tool is called or a hand-off made; copies share it."""
    if isinstance(thing, Handoff):
        return thing.on_invoke_handoff
    if isinstance(thing, FunctionTool):
        invoke = thing.on_invoke_tool
        return getattr(invoke, "_invoke_tool_impl", invoke)
    return thing
