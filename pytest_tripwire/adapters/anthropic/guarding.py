"""Tools for the tool runner that ask a run before they act."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_tripwire.adapters.anthropic.copies import check_of, is_async, is_tool, renewed
from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.adapters.anthropic.turn import call_id_of
from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec, spec_of


def guarded(
    tools: Iterable[Any],
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    agent: str | None = None,
) -> list[Any]:
    """Copies of tools, sync or async, for `client.beta.messages.tool_runner(tools=...)`. What the
    runner does not run itself, such as a tool of the provider's, is handed on as it is.

    Args:
        tools: made with `beta_tool` or `beta_async_tool`, or of a class of your own.
        run: decides.
        specs: declarations by name; they outweigh `@tool_spec` on the functions.
        agent: whose tools they are, where several agents share the run.

    Raises:
        UndeclaredToolError: nobody declared the effect of a tool.
        TypeError: a toolset is among them, which cannot be guarded.
    """
    kept = list(tools)
    own = {each.name: each for each in kept if is_tool(each)}
    guard = _Guard(own, Bridge(run, specs), agent)
    return [guard.copy_of(each) if is_tool(each) else each for each in kept]


class _Guard:
    """What the guarded tools of one list have in common."""

    def __init__(self, tools: Mapping[str, Any], bridge: Bridge, agent: str | None) -> None:
        self._tools, self._bridge, self._agent = tools, bridge, agent
        for name, tool in tools.items():
            spec = spec_of(getattr(tool, "func", tool))
            bridge.take(name, asynchronous=is_async(tool), spec=spec)

    def copy_of(self, tool: Any) -> Any:
        """The tool, asking first."""
        return renewed(tool, self._acall_of(tool) if is_async(tool) else self._call_of(tool))

    def _call_of(self, tool: Any) -> Any:
        name, check = tool.name, check_of(tool)

        def call(given: Any) -> Any:
            check(given)
            kept = Kept()

            def native(which: str, arguments: dict[str, Any]) -> Any:
                return kept.seen(self._tools[which].call(arguments))

            call_id = call_id_of(name, given)
            result = self._bridge.call(name, given, native, call_id=call_id, agent=self._agent)
            return kept.shown(result)

        return call

    def _acall_of(self, tool: Any) -> Any:
        name, check = tool.name, check_of(tool)

        async def call(given: Any) -> Any:
            check(given)
            kept = Kept()

            async def native(which: str, arguments: dict[str, Any]) -> Any:
                result = self._tools[which].call(arguments)
                return kept.seen(await result if inspect.isawaitable(result) else result)

            call_id = call_id_of(name, given)
            result = await self._bridge.acall(
                name, given, native, call_id=call_id, agent=self._agent
            )
            return kept.shown(result)

        return call
