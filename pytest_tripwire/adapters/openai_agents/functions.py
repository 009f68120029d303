"""Function tools of the SDK: what they look like, and the same with other bodies."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Awaitable, Callable
from types import CellType, FunctionType
from typing import Any, TypeAlias

from agents import Agent, FunctionTool, Handoff, handoff
from agents.exceptions import ModelBehaviorError
from agents.tool import with_function_tool_failure_error_handler

from pytest_tripwire.breaker.conversation import asked, inside

#: What the SDK calls: the context of the call, and the arguments as the model has sent them.
Body: TypeAlias = Callable[[Any, str], Awaitable[Any]]
#: Where the body of an agent's tool is kept that goes on in a conversation of its own.
_BODY = "tripwire_body"


def definition(tool: Any) -> dict[str, Any]:
    """Name, description and parameters of a function tool, of a hand-off, or of the agent that is
    handed over to.

    Raises:
        TypeError: for any other tool; the provider runs those, or they have no schema.
    """
    if isinstance(tool, Agent):
        tool = handoff(tool)
    if isinstance(tool, Handoff):
        name, description = tool.tool_name, tool.tool_description
        return _described(name, description, tool.input_json_schema)
    if isinstance(tool, FunctionTool):
        return _described(tool.name, tool.description, tool.params_json_schema)
    raise TypeError(
        f"a {type(tool).__name__} has no schema to be shown: give a FunctionTool or a Handoff"
    )


def _described(name: str, description: str, parameters: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": dict(parameters)}


def parsed(name: str, raw: str) -> dict[str, Any]:
    """The arguments of a call. Raises the SDK's own error where they are no object in JSON."""
    try:
        arguments = json.loads(raw) if raw else {}
    except ValueError:
        raise ModelBehaviorError(f"Invalid JSON input for tool {name}") from None
    if not isinstance(arguments, dict):
        raise ModelBehaviorError(f"Invalid JSON input for tool {name}: expected a JSON object")
    return arguments


def caller_of(context: Any) -> str | None:
    """The name of the agent whose call it is."""
    return getattr(getattr(context, "agent", None), "name", None)


def new_tool(name: str, description: str, parameters: dict[str, Any], body: Body) -> Any:
    """A tool as `function_tool` makes them: what the body raises is told to the model."""
    return FunctionTool(
        name=name,
        description=description,
        params_json_schema=parameters,
        on_invoke_tool=told_failures(body),
        strict_json_schema=False,
    )


def with_body(tool: Any, body: Body) -> Any:
    """A copy of a tool with another body; what that raises is treated as the tool treats it."""
    invoke = told_failures(body) if _tells_failures(tool) else body
    return dataclasses.replace(tool, on_invoke_tool=invoke)


def without_agent(tool: Any) -> Any:
    """A copy of a tool that is no agent's any more."""
    return dataclasses.replace(tool, _is_agent_tool=False, _agent_instance=None)


def with_agent(tool: Any, agent: Any) -> Any:
    """A copy of an agent's tool that runs another agent, with all the options it was made with.

    Raises:
        TypeError: the SDK keeps the agent in another place than in the releases that were tried.
    """
    body = getattr(tool.on_invoke_tool, "_invoke_tool_impl", None)
    body = getattr(body, _BODY, body)
    names = body.__code__.co_freevars if isinstance(body, FunctionType) else ()
    if "self" not in names or not isinstance(body, FunctionType):
        raise TypeError(
            f"the agent inside the tool {tool.name!r} cannot be reached in this release of the "
            "OpenAI Agents SDK; write the tool as a function_tool that runs the agent"
        )
    # The SDK has no other road to the agent than the function that as_tool() has closed over it.
    pairs = zip(names, body.__closure__ or (), strict=True)
    cells = tuple(CellType(agent) if name == "self" else cell for name, cell in pairs)
    other = FunctionType(body.__code__, body.__globals__, body.__name__, None, cells)
    invoke = told_failures(_apart(tool.name, other))
    return dataclasses.replace(tool, on_invoke_tool=invoke, _agent_instance=agent)


def _apart(name: str, body: Body) -> Body:
    """What an agent inside says and reads is a conversation of its own for each input."""

    async def apart(context: Any, raw: str) -> Any:
        with inside(asked(name, parsed(name, raw))):
            return await body(context, raw)

    setattr(apart, _BODY, body)
    return apart


def agent_in(tool: Any) -> Any:
    """The agent that a tool runs, if it was made by `as_tool`; else None."""
    return tool._agent_instance if tool._is_agent_tool else None  # noqa: SLF001 - no other way


def raising(tool: Any) -> Any:
    """A copy of a tool that raises what goes wrong, instead of telling it as a result: a write that
    timed out would look like one that went well.
    """
    return dataclasses.replace(
        tool, _failure_error_function=None, _use_default_failure_error_function=False
    )


def told_failures(body: Body) -> Any:
    """A body whose failures are treated as the tool that it gets into says."""
    return with_function_tool_failure_error_handler(body, _untold)


def _tells_failures(tool: Any) -> bool:
    return hasattr(tool.on_invoke_tool, "__agents_bind_function_tool__")


def _untold(*_: Any) -> None:
    """Where the SDK would note the failure in its trace."""
