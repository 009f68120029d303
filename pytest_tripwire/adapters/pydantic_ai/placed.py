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
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeAlias

from pydantic_ai.toolsets import FunctionToolset, WrapperToolset
from pydantic_core import PydanticSerializationError, to_jsonable_python

from pytest_tripwire.adapters.pydantic_ai.native import agent_name

#: Runs the body with these arguments.
Execute: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]

#: Where a definition says which function it is of; nothing of it is sent to a model.
FUNCTION = "tripwire:function"

_NAME: ContextVar[str | None] = ContextVar("tripwire_pydantic_ai_name", default=None)
_READING: ContextVar[bool] = ContextVar("tripwire_pydantic_ai_reading", default=False)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """One call, on its way to the body.

    Args:
        name: the name that the model knows the tool by.
        arguments: as the framework has validated them; they may hold objects.
        context: the framework's own.
        function: the tool's function, where it is one.
        execute: runs the body.
    """

    name: str
    arguments: dict[str, Any]
    context: Any
    function: Callable[..., Any] | None
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
            metadata = tool.tool_def.metadata or {}
            if FUNCTION in metadata:
                self.conduct.offered(name, metadata[FUNCTION])
        return tools

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        """Make the call under its name."""
        token = _NAME.set(name)
        try:
            return await super().call_tool(name, tool_args, ctx, tool)
        finally:
            _NAME.reset(token)


@dataclasses.dataclass
class Innermost(WrapperToolset[Any]):
    """Stands in front of the bodies of one toolset."""

    conduct: Conduct

    async def get_tools(self, ctx: Any) -> dict[str, Any]:
        """The tools, each with a note of its function."""
        tools = await super().get_tools(ctx)
        return {name: self._noted(name, tool) for name, tool in tools.items()}

    def _noted(self, name: str, tool: Any) -> Any:
        shown = tool.tool_def
        if shown.kind == "external":
            return tool  # it has no body here
        metadata = {**(shown.metadata or {}), FUNCTION: self._function(name, tool)}
        return dataclasses.replace(tool, tool_def=dataclasses.replace(shown, metadata=metadata))

    def _function(self, name: str, tool: Any) -> Callable[..., Any] | None:
        if not isinstance(self.wrapped, FunctionToolset):
            return None
        own = self.wrapped.tools.get(getattr(tool, "original_name", None) or name)
        return own.function if own is not None else None

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        """Let the conduct see to it."""
        inner = super().call_tool
        if _READING.get():
            return await inner(name, tool_args, ctx, tool)

        async def execute(arguments: dict[str, Any]) -> Any:
            return await inner(name, arguments, ctx, tool)

        call = Call(
            name=_NAME.get() or name,
            arguments=dict(tool_args),
            context=ctx,
            function=self._function(name, tool),
            execute=execute,
        )
        return await self.conduct.call(call)


def placed(toolset: Any, conduct: Conduct) -> Any:
    """A toolset with `conduct` in front of every body."""
    inside = toolset.visit_and_replace(lambda leaf: Innermost(leaf, conduct))
    return Outermost(inside, conduct)


async def read(context: Any, name: str, arguments: dict[str, Any]) -> Any:
    """Ask a tool of the same run, unasked. Raises LookupError if there is none of this name."""
    manager = context.tool_manager
    tool = (manager.tools or {}).get(name) if manager is not None else None
    if tool is None:
        raise LookupError(f"no tool {name!r} in this step of the run")
    given = tool.args_validator.validate_python(arguments)
    asking = dataclasses.replace(context, tool_name=name, tool_call_id=None)
    with _unasked():
        return await manager.toolset.call_tool(name, given, asking, tool)


@contextmanager
def _unasked() -> Iterator[None]:
    token = _READING.set(True)
    try:
        yield
    finally:
        _READING.reset(token)


def plain(value: Any) -> Any:
    """A value as JSON has it; the value itself where it has no such form."""
    try:
        return to_jsonable_python(value)
    except (PydanticSerializationError, ValueError):
        return value
