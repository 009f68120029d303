"""Which function makes an agent's answer, where one does."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pydantic_ai import Tool
from pydantic_ai.output import NativeOutput, PromptedOutput, TextOutput, ToolOutput

from pytest_tripwire.adapters.pydantic_ai.placed import plain

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Acting:
    """An output function that is to run.

    Args:
        name: its own name.
        function: where it can be seen.
        argument: the name of its one argument; None if it has several, which come by name.
    """

    name: str
    function: Function | None
    argument: str | None

    def arguments(self, output: Any) -> dict[str, Any]:
        """The arguments as JSON has them."""
        if self.argument is not None:
            return {self.argument: plain(output)}
        return {name: plain(value) for name, value in output.items()}


def acting_in(ctx: Any, shown: Any) -> Acting | None:
    """The function that makes an output what it is, if one does.

    Raises:
        ValueError: it cannot be told which.
    """
    function = _of_tool(ctx, shown.tool_def.name) if shown.tool_def is not None else None
    if function is None and not shown.has_function:
        return None
    name = function.__name__ if function is not None else shown.function_name
    if name is None:
        raise ValueError(
            "one of several outputs that are no tools is a function, and which one answers cannot "
            "be told before it runs. Give each as an output of its own: ToolOutput(function)"
        )
    function = function or _by_name(ctx.agent, name)
    return Acting(name=name, function=function, argument=_argument(function, shown))


def offered(ctx: Any, parameters: Any) -> Iterator[Function]:
    """The functions among the outputs that a model may choose from."""
    for each in parameters.output_tools:
        function = _of_tool(ctx, each.name)
        if function is not None:
            yield function
    if parameters.output_mode not in ("tool", "image") or parameters.allow_text_output:
        yield from (each for kind, each in _functions(ctx.agent) if kind is not ToolOutput)


def functions_of(agent: Any) -> list[Function]:
    """The functions among an agent's own outputs."""
    return [function for _, function in _functions(agent)]


def _of_tool(ctx: Any, name: str) -> Function | None:
    """The function of an output tool. Raises ValueError for one that nobody can ask for."""
    manager = ctx.tool_manager
    tool = (manager.tools or {}).get(name) if manager is not None else None
    processor = getattr(tool.toolset, "processors", {}).get(name) if tool is not None else None
    if any(callable(each) for each in (getattr(processor, "_choice_values", None) or {}).values()):
        raise _choices_act(name)
    schema = getattr(processor, "_function_schema", None)
    return schema.function if schema is not None else None


def _choices_act(name: str) -> ValueError:
    return ValueError(
        f"the output {name!r} is a choice of actions, and nobody can be asked before one of them "
        "runs. Let the model choose a value, and act in an output function, or in a tool"
    )


def _by_name(agent: Any, name: str) -> Function | None:
    found = (each for _, each in _functions(agent) if each.__name__ == name)
    return next(found, None)


def _functions(agent: Any) -> Iterator[tuple[Any, Function]]:
    """The functions among an agent's own outputs, each with the kind of output that it makes."""
    return _in(agent.output_type, ToolOutput) if agent is not None else iter(())


def _in(output: Any, kind: Any) -> Iterator[tuple[Any, Function]]:
    if isinstance(output, NativeOutput | PromptedOutput):
        yield from _in(output.outputs, type(output))
    elif isinstance(output, TextOutput):
        yield from _in(output.output_function, TextOutput)
    elif isinstance(output, ToolOutput):
        yield from _in(output.output, ToolOutput)
    elif isinstance(output, Sequence) and not isinstance(output, str):
        yield from (found for each in output for found in _in(each, kind))
    elif callable(output) and not isinstance(output, type) and hasattr(output, "__name__"):
        yield kind, output


def _argument(function: Function | None, shown: Any) -> str | None:
    if function is not None:
        name: str | None = Tool(function).function_schema.single_field_name
        return name
    if shown.object_def is None:
        return "text"
    properties = shown.object_def.json_schema.get("properties", {})
    return next(iter(properties)) if len(properties) == 1 else None
