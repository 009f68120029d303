"""The kit's tools made of a caller: for `task.tools.adk()` and `task.adopt`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from google.adk.tools import AgentTool, BaseTool
from google.genai import types

from pytest_tripwire.adapters.adk.cloning import Body, Cloner, declaration_of, with_body
from pytest_tripwire.adapters.adoption import Adoption, Described
from pytest_tripwire.adapters.bridge import Caller


def tools(caller: Caller, described: Iterable[Described]) -> list[Any]:
    """`BaseTool`s that a caller answers. What it raises ends the agent's run, as with any tool of
    the kit's, unless an `on_tool_error_callback` tells the model of it.
    """
    return [with_body(_Shown(each), _calling(caller, each.name)) for each in described]


def definition(tool: Any) -> dict[str, Any]:
    """What a model is shown of a tool. Raises TypeError if that is no function."""
    shown = declaration_of(tool)
    if shown is None:
        raise TypeError("its model is shown no function")
    schema = shown.parameters_json_schema
    if schema is None and shown.parameters is not None:
        plain = shown.parameters.json_schema
        schema = plain.model_dump(mode="json", by_alias=True, exclude_none=True)
    named = {"name": tool.name, "description": shown.description or tool.name}
    return {**named, "parameters": schema or {"type": "object", "properties": {}}}


def adopt(thing: Any, adoption: Adoption) -> Any:
    """A clone of an agent and all that it can reach, or of tools, whose bodies are the caller's.
    Transfers stay the kit's own. Raises TypeError for what can have no other body.
    """
    return Cloner(_Adopts(adoption)).of(thing)


class _Adopts:
    """Gives every tool the caller's body."""

    def __init__(self, adoption: Adoption) -> None:
        self._adoption = adoption

    def tool(self, tool: Any, owner: str, cloner: Cloner) -> Any:
        if isinstance(tool, AgentTool) and not self._adoption.knows(tool.name):
            return cloner.inside(tool)
        self._adoption.need(tool.name, owner)
        return with_body(tool, _calling(self._adoption.caller, tool.name))

    def agent(self, clone: Any) -> None:
        """Its callbacks and its model stay what they are."""


class _Shown(BaseTool):
    def __init__(self, described: Described) -> None:
        super().__init__(name=described.name, description=described.description)
        self._parameters = dict(described.parameters)

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._parameters,
        )


def _calling(caller: Caller, name: str) -> Body:
    async def body(args: dict[str, Any], context: Any) -> Any:
        call_id, agent = context.function_call_id, context.agent_name
        return await caller.acall(name, args, call_id=call_id, agent=agent)

    return body
