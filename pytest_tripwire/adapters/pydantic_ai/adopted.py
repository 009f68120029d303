"""Agents that own their tools, taken over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import Any

from pydantic_ai import Tool
from pydantic_ai.agent import AbstractAgent, WrapperAgent
from pydantic_ai.toolsets import (
    CombinedToolset,
    ExternalToolset,
    FunctionToolset,
    PrefixedToolset,
    RenamedToolset,
    WrapperToolset,
)

from pytest_tripwire.adapters.adoption import Adoption, Described
from pytest_tripwire.adapters.pydantic_ai.delegates import delegates_of
from pytest_tripwire.adapters.pydantic_ai.native import definition, tools
from pytest_tripwire.adapters.pydantic_ai.placed import Call, placed
from pytest_tripwire.adapters.pydantic_ai.played import PlayedOutputs, survey_outputs

#: A tool's name, and its function where it is one.
Found = tuple[str, Callable[..., Any] | None]


def adopt(thing: Any, adoption: Adoption) -> Any:
    """An agent, a toolset or a `Tool` with the same names, descriptions and schemas, whose bodies
    are the caller's. What is given stays as it is.

    A tool without a role that can be seen to run another agent keeps its body, and that agent is
    taken over for as long as it runs. Any other tool without a role is told to `adoption`.
    """
    if isinstance(thing, Tool):
        adoption.need(thing.name, "")
        return tools(adoption.caller, [Described(**definition(thing))])[0]
    if isinstance(thing, AbstractAgent):
        _survey(thing, adoption, set())
        return AdoptedAgent(thing, adoption)
    _survey_toolsets([thing], "", adoption, set())
    return placed(thing, Played(adoption))


class AdoptedAgent(WrapperAgent[Any, Any]):
    """An agent whose tools have other bodies while it runs."""

    def __init__(self, wrapped: Any, adoption: Adoption) -> None:
        super().__init__(wrapped)
        self._adoption = adoption

    @property
    def toolsets(self) -> Sequence[Any]:
        """The toolsets, with the bodies that they have here."""
        played = Played(self._adoption)
        return [placed(each, played) for each in self.wrapped.toolsets]

    @asynccontextmanager
    async def iter(
        self,
        *args: Any,
        toolsets: Sequence[Any] | None = None,
        capabilities: Sequence[Any] | None = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        """A run, whichever method began it."""
        more = [*(capabilities or ()), PlayedOutputs(self._adoption)]
        with taken_over(self.wrapped, self._adoption, toolsets or ()):
            async with super().iter(*args, capabilities=more, **options) as run:
                yield run

    def realtime(self, *_: Any, **_options: Any) -> Any:
        """Nothing: raises ValueError."""
        raise ValueError(
            "an agent that is taken over has no realtime sessions: the scripted model does not "
            "speak, and the tools would be the real ones. Run it by run(), or by its other ways"
        )


def taken_over(
    agent: Any, adoption: Adoption, more: Sequence[Any] = ()
) -> AbstractContextManager[None]:
    """Give an agent's tools other bodies for a while, in this task alone.

    Args:
        agent: an agent.
        adoption: has the bodies.
        more: toolsets that it has besides its own.
    """
    played = Played(adoption)
    toolsets = [placed(each, played) for each in (*agent.toolsets, *more)]
    overriding: AbstractContextManager[None] = agent.override(tools=[], toolsets=toolsets)
    return overriding


class Played:
    """What stands in front of the bodies: the caller's own instead of them."""

    def __init__(self, adoption: Adoption) -> None:
        self._adoption = adoption

    def offered(self, name: str, function: Callable[..., Any] | None) -> None:
        """Tools that only a run brings to light are found out about here."""
        if not delegates_of(function):
            self._adoption.need(name, "")
            self._adoption.check()

    async def call(self, call: Call) -> Any:
        """Call the new body, or run the agents that the old one runs."""
        if self._adoption.knows(call.name):
            return await self._adoption.caller.acall(
                call.name, call.plain, call_id=call.call_id, agent=call.agent
            )
        with ExitStack() as stack:
            for each in delegates_of(call.body.function):
                stack.enter_context(taken_over(each, self._adoption))
            return await call.execute(call.arguments)


def _survey(agent: Any, adoption: Adoption, seen: set[int]) -> None:
    """See which tools an agent has, what its answer does, and the agents that these run."""
    if id(agent) not in seen:
        survey_outputs(agent, adoption, within=bool(seen))
        seen.add(id(agent))
        _survey_toolsets(agent.toolsets, agent.name or "", adoption, seen)


def _survey_toolsets(
    toolsets: Sequence[Any], agent: str, adoption: Adoption, seen: set[int]
) -> None:
    for name, function in (found for each in toolsets for found in _tools_of(each)):
        delegates = [] if adoption.knows(name) else delegates_of(function)
        if not delegates:
            adoption.need(name, agent)
        for each in delegates:
            _survey(each, adoption, seen)


def _tools_of(toolset: Any) -> Iterator[Found]:
    """The tools that can be told without a run, by the names that a model sees."""
    if isinstance(toolset, FunctionToolset):
        yield from ((name, tool.function) for name, tool in toolset.tools.items())
    elif isinstance(toolset, ExternalToolset):
        yield from ((each.name, None) for each in toolset.tool_defs)
    elif isinstance(toolset, CombinedToolset):
        yield from (found for each in toolset.toolsets for found in _tools_of(each))
    elif isinstance(toolset, PrefixedToolset):
        inner = _tools_of(toolset.wrapped)
        yield from ((f"{toolset.prefix}_{name}", function) for name, function in inner)
    elif isinstance(toolset, RenamedToolset):
        new = {old: name for name, old in toolset.name_map.items()}
        inner = _tools_of(toolset.wrapped)
        yield from ((new.get(name, name), function) for name, function in inner)
    elif isinstance(toolset, WrapperToolset):
        yield from _tools_of(toolset.wrapped)
