"""The client's tools made of a caller: for `task.tools.anthropic()` and `task.adopt`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from anthropic.lib.tools import BetaAsyncFunctionTool, BetaFunctionTool

from pytest_tripwire.adapters.adoption import Adoption, Described
from pytest_tripwire.adapters.anthropic.copies import is_async, is_tool, renewed
from pytest_tripwire.adapters.anthropic.turn import call_id_of
from pytest_tripwire.adapters.bridge import Caller, as_text


class ToolList(list[Any]):
    """Tools for the runner of the sync client.

    Args:
        tools: these.
        asynchronous: the same for the runner of the async client, which takes no others.
    """

    def __init__(self, tools: Iterable[Any], asynchronous: Iterable[Any]) -> None:
        super().__init__(tools)
        self.asynchronous = list(asynchronous)


def tools(caller: Caller, described: Sequence[Described]) -> ToolList:
    """Function tools whose bodies call `caller`."""
    return ToolList(
        [_made(BetaFunctionTool, each, _body(caller, each.name)) for each in described],
        [_made(BetaAsyncFunctionTool, each, _abody(caller, each.name)) for each in described],
    )


def _made(kind: Any, each: Described, call: Callable[[Any], Any]) -> Any:
    body: Callable[..., Any]
    if kind is BetaFunctionTool:

        def body(**arguments: Any) -> Any:
            return call(arguments)
    else:

        async def body(**arguments: Any) -> Any:
            return await call(arguments)

    tool = kind(
        body, name=each.name, description=each.description, input_schema=dict(each.parameters)
    )
    return renewed(tool, call)


def adopt(agent: Any, adoption: Adoption) -> list[Any]:
    """Copies of an agent's tools, sync or async, whose bodies call the adoption's caller.

    Args:
        agent: its tools, or one of them: in this client an agent is what has them.
        adoption: has the bodies.

    Raises:
        TypeError: a toolset is among them.
    """
    kept = list(agent) if isinstance(agent, Iterable) else [agent]
    return [_adopted(each, adoption) if is_tool(each) else each for each in kept]


def _adopted(tool: Any, adoption: Adoption) -> Any:
    adoption.need(tool.name, "")
    body = _abody if is_async(tool) else _body
    return renewed(tool, body(adoption.caller, tool.name))


def definition(tool: Any) -> dict[str, Any]:
    """Name, description and parameters of a tool, or of a definition that the API takes.

    Raises:
        TypeError: it has no name, as toolsets have none.
    """
    told = tool if isinstance(tool, dict) else tool.to_dict()
    if "name" not in told:
        raise TypeError(f"a {type(tool).__name__} has no name that a model could call")
    return {
        "name": told["name"],
        "description": told.get("description", ""),
        "parameters": dict(told.get("input_schema", {"type": "object", "properties": {}})),
    }


def _body(caller: Caller, name: str) -> Callable[[Any], Any]:
    def call(given: Any) -> Any:
        return as_text(caller.call(name, given, call_id=call_id_of(name, given)))

    return call


def _abody(caller: Caller, name: str) -> Callable[[Any], Any]:
    async def call(given: Any) -> Any:
        return as_text(await caller.acall(name, given, call_id=call_id_of(name, given)))

    return call
