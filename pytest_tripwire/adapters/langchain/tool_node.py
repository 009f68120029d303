"""The breaker in a graph that is built by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.prebuilt import ToolNode

from pytest_tripwire.adapters.langchain.asking_node import AskingToolNode
from pytest_tripwire.adapters.langchain.deciding import Deciding
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec


def guarded_tool_node(
    tools: Sequence[Any],
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    ask: bool = False,
    **options: Any,
) -> Any:
    """A `ToolNode` whose calls `run` decides about. A refused call is answered by the refusal.

    Args:
        tools: tools, or functions.
        run: decides.
        specs: declarations by name; they outweigh those of the run's breaker.
        ask: interrupt the graph for a call that needs a person's yes; `Command(resume=True)`, or
            `{"approved": True}`, gives it. Calls of one message are asked about at once, before
            any of them runs; `{"approved": ["call_1"]}` names those that may run. Needs a
            checkpointer.
        options: of `ToolNode`. A `wrap_tool_call` of yours is around the breaker, so that each of
            its tries is decided about.

    Raises:
        UndeclaredToolError: nobody declared what a tool does.
    """
    deciding = Deciding(run, specs, ask=ask)
    outer, aouter = options.pop("wrap_tool_call", None), options.pop("awrap_tool_call", None)

    def wrap(request: Any, execute: Any) -> Any:
        if outer is None or deciding.gathers:
            return deciding.call(request, execute)
        return outer(request, lambda given: deciding.call(given, execute))

    async def awrap(request: Any, execute: Any) -> Any:
        async def decided(given: Any) -> Any:
            return await deciding.acall(given, execute)

        if aouter is None or deciding.gathers:
            return await decided(request)
        return await aouter(request, decided)

    options["wrap_tool_call"] = wrap
    if outer is None or aouter is not None:
        # Alone the sync one serves async graphs too, and must not be left out of them.
        options["awrap_tool_call"] = awrap
    node = AskingToolNode(tools, deciding.asking, **options) if ask else ToolNode(tools, **options)
    deciding.take(node.tools_by_name.values())
    return node
