"""Taking over agents and graphs that own their tools."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NoReturn

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel
from langgraph.pregel.protocol import PregelProtocol

from pytest_tripwire.adapters.adoption import Adoption, UnknownToolError
from pytest_tripwire.adapters.langchain.asking_node import AskingToolNode
from pytest_tripwire.adapters.langchain.bodies import (
    MARK,
    asked_first,
    borrowed,
    is_marked,
    marked,
)
from pytest_tripwire.adapters.langchain.handoffs import is_hand_off

#: Whose tools change an agent's state alone.
_INTERNAL = ("langchain.agents.middleware.todo",)


def adopt(agent: Any, adoption: Adoption) -> Any:
    """A clone of a tool, a list of tools, a `ToolNode` or a compiled graph."""
    taking = _Taking(adoption)
    if isinstance(agent, list | tuple):
        return type(agent)(taking.tool(each, "") for each in agent)
    if isinstance(agent, BaseTool):
        return taking.tool(agent, "")
    taken = taking.runnable(agent, "", str(getattr(agent, "name", "") or ""))
    if taken is agent:
        _unreachable(
            f"a {type(agent).__name__} cannot be taken over. Give a compiled graph, a ToolNode or "
            "tools"
        )
    return taken if isinstance(agent, ToolNode) else taken.with_config(callbacks=[Seal()])


class Seal(BaseCallbackHandler):
    """Stops what nobody could reach beforehand: a tool that code of the agent's own runs."""

    raise_error = True
    run_inline = True

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,  # noqa: ARG002 - the framework names it
        *,
        metadata: Any = None,
        **_options: Any,
    ) -> None:
        """Let a tool begin whose body was exchanged, and no other."""
        if not (metadata or {}).get(MARK):
            _unreachable(
                f"the tool {(serialized or {}).get('name')!r} is run by code of the agent's own, "
                "where it cannot be taken over, and so it was not run"
            )


class _Taking:
    """One adoption, and what of it is done already."""

    def __init__(self, adoption: Adoption) -> None:
        self._adoption = adoption
        self._done: dict[int, Any] = {}

    def tool(self, tool: Any, agent: str) -> Any:
        """A tool with another body."""
        if not isinstance(tool, BaseTool):
            _unreachable(f"{tool!r} is no tool of LangChain's. Decorate it with @tool")
        if is_marked(tool):
            return tool
        graph = _graph_in(tool)
        if graph is not None and not self._adoption.knows(tool.name):
            return self._as_tool(tool, graph)
        if is_hand_off(tool):
            known = self._adoption.knows(tool.name)
            return asked_first(tool, self._adoption.caller) if known else marked(tool)
        if _home(tool) in _INTERNAL:
            return marked(tool)
        self._adoption.need(tool.name, agent)
        return borrowed(tool, self._adoption.caller)

    def runnable(self, found: Any, node: str, agent: str) -> Any:
        """A node's work; itself where there is nothing in it to take over."""
        if isinstance(found, Pregel):
            return self._graph(found)
        if isinstance(found, PregelProtocol):
            _unreachable(f"the node {node!r} of {agent!r} is a graph that runs elsewhere")
        if isinstance(found, ToolNode):
            return self._tool_node(found, node, agent)
        if isinstance(found, RunnableBindingBase):
            inner = self.runnable(found.bound, node, agent)
            return found if inner is found.bound else found.model_copy(update={"bound": inner})
        if isinstance(found, RunnableSequence):
            steps = [self.runnable(each, node, agent) for each in found.steps]
            same = all(one is two for one, two in zip(steps, found.steps, strict=True))
            return found if same else RunnableSequence(*steps, name=found.name)
        return found

    def _graph(self, graph: Any) -> Any:
        if id(graph) in self._done:
            return self._done[id(graph)]
        agent = graph.name
        clone = graph.copy({"nodes": dict(graph.nodes)})
        self._done[id(graph)] = clone
        for name, node in graph.nodes.items():
            clone.nodes[name] = self._node(name, node, agent)
        return clone

    def _node(self, name: str, node: Any, agent: str) -> Any:
        bound = self.runnable(node.bound, name, agent)
        if bound is not node.bound:
            return node.copy({"bound": bound, "subgraphs": None})
        real = sorted({each for graph in node.subgraphs for each in _real_tools(graph, set())})
        if real:
            _unreachable(
                f"the node {name!r} of {agent!r} is a function that calls a graph with the tools "
                f"{', '.join(real)}, and code cannot be taken over. Add that graph as the node"
            )
        return node

    def _tool_node(self, node: Any, name: str, agent: str) -> Any:
        if type(node) not in (ToolNode, AskingToolNode):
            kind = type(node).__name__
            _unreachable(f"the node {name!r} of {agent!r} is a {kind}, a ToolNode of its own kind")
        sync, later = node._wrap_tool_call, node._awrap_tool_call  # noqa: SLF001 - no other way in
        make: Callable[..., Any] = ToolNode
        if isinstance(node, AskingToolNode):
            make = partial(AskingToolNode, asking=node.asking)
        return make(
            [self.tool(each, agent) for each in node.tools_by_name.values()],
            name=node.name,
            tags=node.tags,
            handle_tool_errors=node._handle_tool_errors,  # noqa: SLF001 - as above
            messages_key=node._messages_key,  # noqa: SLF001 - as above
            wrap_tool_call=sync and self._wrapped(sync, agent),
            awrap_tool_call=later and self._awrapped(later, agent),
        )

    def _wrapped(self, wrapper: Callable[..., Any], agent: str) -> Callable[..., Any]:
        def wrapped(request: Any, execute: Any) -> Any:
            return wrapper(request, lambda given: execute(self._request(given, agent)))

        return wrapped

    def _awrapped(self, wrapper: Callable[..., Any], agent: str) -> Callable[..., Any]:
        async def wrapped(request: Any, execute: Any) -> Any:
            async def executed(given: Any) -> Any:
                return await execute(self._request(given, agent))

            return await wrapper(request, executed)

        return wrapped

    def _request(self, request: Any, agent: str) -> Any:
        """A request as a middleware has left it, which may have come with a tool of its own."""
        if request.tool is None or is_marked(request.tool):
            return request
        taken = self.tool(request.tool, agent)
        self._adoption.check()
        return request.override(tool=taken)

    def _as_tool(self, tool: Any, graph: Any) -> Any:
        taken = self._graph(graph)

        def ask(callbacks: Any = None, **given: Any) -> Any:
            return taken.invoke(given, {"callbacks": callbacks})

        async def ask_later(callbacks: Any = None, **given: Any) -> Any:
            return await taken.ainvoke(given, {"callbacks": callbacks})

        return marked(tool.model_copy(update={"func": ask, "coroutine": ask_later}))


def _graph_in(tool: Any) -> Any:
    """The graph that `as_tool` has made a tool of. A function that calls one is code, which may
    call anything else as well.
    """
    function = getattr(tool, "func", None)
    if function is None or function.__module__ != "langchain_core.tools.convert":
        return None
    graph = inspect.getclosurevars(function).nonlocals.get("runnable")
    while isinstance(graph, RunnableBindingBase):
        graph = graph.bound
    return graph if isinstance(graph, Pregel) else None


def _home(tool: Any) -> str:
    function = getattr(tool, "func", None) or getattr(tool, "coroutine", None)
    return str(getattr(function, "__module__", ""))


def _real_tools(graph: Any, seen: set[int]) -> Iterator[str]:
    """The tools in a graph that would reach the world outside."""
    if id(graph) in seen:
        return
    seen.add(id(graph))
    for node in getattr(graph, "nodes", {}).values():
        if isinstance(node.bound, ToolNode):
            found = node.bound.tools_by_name.values()
            yield from (each.name for each in found if not is_marked(each))
        for inner in node.subgraphs:
            yield from _real_tools(inner, seen)


def _unreachable(what: str) -> NoReturn:
    raise UnknownToolError(f"{what}, or build the agent with task.tools.langchain()")
