"""Tools of LangChain's whose bodies are somebody else's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig  # noqa: TC002 - read from the hints
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field
from pydantic_core import to_jsonable_python

from pytest_tripwire.adapters.adoption import Described
from pytest_tripwire.adapters.bridge import Caller, as_text, is_refused

#: In a tool's metadata: it does nothing that nobody has asked the caller about.
MARK = "tripwire"

#: The call that is under way in this thread or task; a body is not told its id.
_CALL_ID: ContextVar[str | None] = ContextVar("tripwire_langchain_call", default=None)


class Borrowed(BaseTool):
    """A tool that has a name and a schema, and calls its body by a caller."""

    caller: Any = Field(exclude=True, repr=False)

    def run(self, tool_input: Any, *args: Any, tool_call_id: Any = None, **options: Any) -> Any:
        """Run, as any tool does."""
        token = _CALL_ID.set(tool_call_id)
        try:
            return super().run(tool_input, *args, tool_call_id=tool_call_id, **options)
        finally:
            _CALL_ID.reset(token)

    async def arun(
        self, tool_input: Any, *args: Any, tool_call_id: Any = None, **options: Any
    ) -> Any:
        """The same as a task."""
        token = _CALL_ID.set(tool_call_id)
        try:
            return await super().arun(tool_input, *args, tool_call_id=tool_call_id, **options)
        finally:
            _CALL_ID.reset(token)

    def _run(self, config: RunnableConfig, **arguments: Any) -> Any:
        call_id = _CALL_ID.get()
        given, agent = to_jsonable_python(arguments), agent_of(config)
        return _shown(self.caller.call(self.name, given, call_id=call_id, agent=agent), call_id)

    async def _arun(self, config: RunnableConfig, **arguments: Any) -> Any:
        call_id = _CALL_ID.get()
        given, agent = to_jsonable_python(arguments), agent_of(config)
        result = await self.caller.acall(self.name, given, call_id=call_id, agent=agent)
        return _shown(result, call_id)


class HandOff(BaseTool):
    """A hand-off that asks a caller first and then is what it was."""

    caller: Any = Field(exclude=True, repr=False)
    inner: Any = Field(exclude=True, repr=False)
    # What the framework puts in by the type of an argument, it finds out by these.
    func: Any = Field(default=None, exclude=True, repr=False)
    coroutine: Any = Field(default=None, exclude=True, repr=False)

    def run(self, tool_input: Any, *args: Any, tool_call_id: Any = None, **options: Any) -> Any:
        """Hand over, unless that is refused."""
        answer = self.caller.call(
            self.name,
            self._given(tool_input),
            call_id=tool_call_id,
            agent=agent_of(options.get("config")),
        )
        if is_refused(answer):
            return self._refused(answer, tool_call_id)
        return self.inner.run(tool_input, *args, tool_call_id=tool_call_id, **options)

    async def arun(
        self, tool_input: Any, *args: Any, tool_call_id: Any = None, **options: Any
    ) -> Any:
        """The same as a task."""
        answer = await self.caller.acall(
            self.name,
            self._given(tool_input),
            call_id=tool_call_id,
            agent=agent_of(options.get("config")),
        )
        if is_refused(answer):
            return self._refused(answer, tool_call_id)
        return await self.inner.arun(tool_input, *args, tool_call_id=tool_call_id, **options)

    def _given(self, tool_input: Any) -> dict[str, Any]:
        """What the model gave, without what the framework has put in."""
        if not isinstance(tool_input, Mapping):
            return {}
        given = {name: each for name, each in tool_input.items() if name in self.inner.args}
        return dict(to_jsonable_python(given))

    def _refused(self, answer: Any, call_id: str | None) -> Any:
        if call_id is None:
            return answer
        return ToolMessage(as_text(answer), tool_call_id=call_id, name=self.name)

    def _run(self, *_args: Any, **_arguments: Any) -> Any:
        raise NotImplementedError(f"the hand-off {self.name!r} is run by its own tool")


def tools(caller: Caller, described: Iterable[Described]) -> list[Any]:
    """Tools made of what they look like; `caller` calls their bodies."""
    return [
        Borrowed(
            name=each.name,
            description=each.description,
            args_schema=dict(each.parameters),
            metadata={MARK: True},
            caller=caller,
        )
        for each in described
    ]


def borrowed(tool: Any, caller: Caller) -> Any:
    """A tool that looks like `tool`, and whose body `caller` calls."""
    return Borrowed(
        name=tool.name,
        description=tool.description,
        # Without what the framework puts in: that is no business of the body's.
        args_schema=tool.tool_call_schema,
        return_direct=tool.return_direct,
        handle_tool_error=tool.handle_tool_error,
        handle_validation_error=tool.handle_validation_error,
        tags=tool.tags,
        metadata={**(tool.metadata or {}), MARK: True},
        extras=tool.extras,
        caller=caller,
    )


def asked_first(tool: Any, caller: Caller) -> Any:
    """The hand-off `tool`, which asks `caller` first."""
    return HandOff(
        name=tool.name,
        description=tool.description,
        args_schema=tool.args_schema,
        return_direct=tool.return_direct,
        tags=tool.tags,
        metadata={**(tool.metadata or {}), MARK: True},
        extras=tool.extras,
        inner=marked(tool),
        func=getattr(tool, "func", None),
        coroutine=getattr(tool, "coroutine", None),
        caller=caller,
    )


def marked(tool: Any) -> Any:
    """A copy of a tool that may run as it is."""
    return tool.model_copy(update={"metadata": {**(tool.metadata or {}), MARK: True}})


def is_marked(tool: Any) -> bool:
    """Whether a tool may run as it is."""
    return bool((tool.metadata or {}).get(MARK))


def definition(tool: Any) -> dict[str, Any]:
    """A native tool as a model is shown it: its name, its description and its parameters."""
    shape = convert_to_openai_tool(tool)["function"]
    return {
        "name": shape["name"],
        "description": shape.get("description", ""),
        "parameters": shape.get("parameters", {"type": "object", "properties": {}}),
    }


def agent_of(config: Any) -> str | None:
    """The name of the agent that calls, where it has one."""
    name = ((config or {}).get("metadata") or {}).get("lc_agent_name")
    return str(name) if name else None


def _shown(result: Any, call_id: str | None) -> Any:
    """A result for the model as text, and for code that runs a tool itself as it is."""
    return result if call_id is None else as_text(result)
