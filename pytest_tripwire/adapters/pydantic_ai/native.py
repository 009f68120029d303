"""Tools as Pydantic AI has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from pydantic_ai import RunContext, Tool
from pydantic_core import SchemaValidator, core_schema

from pytest_tripwire.adapters.adoption import Described
from pytest_tripwire.adapters.bridge import Caller

#: Arguments that are no JSON, or no object, are told to the model as the framework tells it.
_ANY_OBJECT = SchemaValidator(
    core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
)


def tools(caller: Caller, described: Iterable[Described]) -> list[Any]:
    """`Tool`s whose bodies call `caller`. What it raises ends the run, as it does with any tool of
    Pydantic AI's, unless the agent has a hook that tells its model of it.
    """
    return [_tool(each, _body(caller, each.name)) for each in described]


def definition(tool: Any) -> dict[str, Any]:
    """What a model is shown of a `Tool`, in the form of a provider's definition."""
    shown = tool.tool_def
    return {
        "name": shown.name,
        "description": shown.description or shown.name,
        "parameters": dict(shown.parameters_json_schema),
    }


def agent_name(context: Any) -> str | None:
    """The name of the agent whose run a context belongs to."""
    return context.agent.name if context.agent is not None else None


def _tool(described: Described, body: Callable[..., Any]) -> Any:
    tool = Tool.from_schema(
        body,
        name=described.name,
        description=described.description,
        json_schema=dict(described.parameters),
        takes_ctx=True,
    )
    tool.function_schema = dataclasses.replace(tool.function_schema, validator=_ANY_OBJECT)
    return tool


def _body(caller: Caller, name: str) -> Callable[..., Any]:
    async def body(context: RunContext[Any], /, **arguments: Any) -> Any:
        return await caller.acall(
            name, arguments, call_id=context.tool_call_id, agent=agent_name(context)
        )

    return body
