"""A place right in front of each tool's body, and behind all else that the framework does: an
approval, a hook, a toolset that tries again. Whatever these do, no body runs without being asked
for here.

The name that the model knows a tool by is that of the outermost toolset; a prefix or another name
may have been taken off where the body is. So there are two wrappers: one outside that notes the
name, one around each toolset that has bodies of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from pydantic_ai.toolsets import CombinedToolset, FunctionToolset, WrapperToolset
from pydantic_core import PydanticSerializationError, to_jsonable_python

from pytest_tripwire.adapters.pydantic_ai.native import agent_name

#: Runs the body with these arguments.
Execute: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]

#: Where a definition says which body it is of; nothing of it is sent to a model.
BODY = "tripwire:body"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Body:
    """What runs when a tool is called.

    Args:
        name: the name that it has where it is; the model may know it by another.
        function: the tool's function, where it is one.
    """

    name: str
    function: Callable[..., Any] | None


#: Under which name the model has called which body; None where the body cannot be told.
_CALLED: ContextVar[tuple[str, Body | None] | None] = ContextVar(
    "tripwire_pydantic_ai_called", default=None
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """One call, on its way to the body.

    Args:
        name: the name that the model knows the tool by.
        arguments: as the framework has validated them; they may hold objects.
        context: the framework's own.
        body: what is to run.
        execute: runs it.
    """

    name: str
    arguments: dict[str, Any]
    context: Any
    body: Body
    execute: Execute

    @property
    def call_id(self) -> str | None:
        """The model's id of the call."""
        return str(self.context.tool_call_id) if self.context.tool_call_id else None

    @property
    def agent(self) -> str | None:
        """Who calls."""
        return agent_name(self.context)

    @property
    def plain(self) -> dict[str, Any]:
        """The arguments as JSON has them."""
        return {name: plain(value) for name, value in self.arguments.items()}


class Conduct(Protocol):
    """What is done in that place."""

    def offered(self, name: str, function: Callable[..., Any] | None) -> None:
        """A tool is offered to the model."""

    async def call(self, call: Call) -> Any:
        """A tool's body is to run."""


@dataclasses.dataclass
class Outermost(WrapperToolset[Any]):
    """Notes the name of a call, and which tools are offered."""

    conduct: Conduct

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """The tools, unchanged."""
        tools: dict[str, Any] = await super().get_tools(ctx)
        for name, tool in tools.items():
            body = body_of(tool)
            if body is not None:
                self.conduct.offered(name, body.function)
        return tools

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        """Make the call under its name."""
        token = _CALLED.set((name, body_of(tool)))
        try:
            return await super().call_tool(name, tool_args, ctx, tool)
        finally:
            _CALLED.reset(token)


@dataclasses.dataclass
class Innermost(WrapperToolset[Any]):
    """Stands in front of the bodies of one toolset."""

    conduct: Conduct

    def visit_and_replace(self, visitor: Callable[[Any], Any]) -> Any:
        """Another conduct stands in front of this one: what this one runs is a body to it."""
        return visitor(self)

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """The tools, each with a note of its body."""
        tools = await super().get_tools(ctx)
        return {name: self._noted(name, tool) for name, tool in tools.items()}

    def _noted(self, name: str, tool: Any) -> Any:
        shown = tool.tool_def
        if shown.kind == "external":
            return tool  # it has no body here
        metadata = {**(shown.metadata or {}), BODY: self._body(name, tool)}
        return dataclasses.replace(tool, tool_def=dataclasses.replace(shown, metadata=metadata))

    def _body(self, name: str, tool: Any) -> Body:
        leaf = self.wrapped
        while isinstance(leaf, Innermost):
            leaf = leaf.wrapped
        inside = getattr(tool, "original_name", None) or name
        own = leaf.tools.get(inside) if isinstance(leaf, FunctionToolset) else None
        return Body(name=inside, function=own.function if own is not None else None)

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        """Let the conduct see to it."""
        inner = super().call_tool

        async def execute(arguments: dict[str, Any]) -> Any:
            return await inner(name, arguments, ctx, tool)

        body = self._body(name, tool)
        call = Call(
            name=_name_of(body, ctx) or name,
            arguments=dict(tool_args),
            context=ctx,
            body=body,
            execute=execute,
        )
        return await self.conduct.call(call)


def body_of(tool: Any) -> Body | None:
    """What a tool runs, where a place has been made in front of it."""
    body: Body | None = (tool.tool_def.metadata or {}).get(BODY)
    return body


def _name_of(body: Body, context: Any) -> str | None:
    """The name that the model knows a body by. What a toolset calls besides what the model has
    called is another body, and goes by its own name.
    """
    called, of = _CALLED.get() or (None, None)
    if called is not None and of in (None, body):
        return called
    tools = (context.tool_manager.tools or {}) if context.tool_manager is not None else {}
    return next((name for name, tool in tools.items() if body_of(tool) == body), None)


def placed(toolset: Any, conduct: Conduct) -> Any:
    """A toolset with `conduct` in front of every body."""
    inside = toolset.visit_and_replace(lambda leaf: Innermost(leaf, conduct))
    return Outermost(inside, conduct)


def conducts(toolset: Any) -> Iterator[Conduct]:
    """What stands in front of a toolset's bodies already, from outside in."""
    if isinstance(toolset, Outermost):
        yield toolset.conduct
    if isinstance(toolset, WrapperToolset):
        yield from conducts(toolset.wrapped)
    elif isinstance(toolset, CombinedToolset):
        yield from (found for each in toolset.toolsets for found in conducts(each))


def plain(value: Any) -> Any:
    """A value as JSON has it; the value itself where it has no such form."""
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        return value
