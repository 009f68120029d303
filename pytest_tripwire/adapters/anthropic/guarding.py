"""Tools for the tool runner that ask a run before they act."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeAlias

from pytest_tripwire.adapters.anthropic.copies import asks, is_async, is_tool, reader_of, renewed
from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.adapters.anthropic.turn import call_id_of
from pytest_tripwire.adapters.bridge import Bridge, GuardedTool
from pytest_tripwire.adapters.given import Given
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec, spec_of

#: Reads arguments, and tells wrong ones, in the client's own way.
Reader: TypeAlias = Callable[[object], Given]


def guarded(
    tools: Iterable[Any],
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    agent: str | None = None,
) -> list[Any]:
    """Copies of tools, sync or async, for `client.beta.messages.tool_runner(tools=...)`. What the
    runner does not run itself, such as a tool of the provider's, is handed on as it is, and so is
    what this run guards already.

    Args:
        tools: made with `beta_tool` or `beta_async_tool`, or of a class of your own.
        run: decides.
        specs: declarations by name; they outweigh `@tool_spec` on the functions.
        agent: whose tools they are, where several agents share the run.

    Raises:
        UndeclaredToolError: nobody declared the effect of a tool.
        TypeError: a toolset is among them, which cannot be guarded, or two tools of one name that
            are declared differently.
    """
    guard = _Guard(Bridge(run, specs), agent)
    return [
        guard.copy_of(each) if is_tool(each) and not asks(each, run) else each for each in tools
    ]


class _Guard:
    """What the guarded tools of one list have in common."""

    def __init__(self, bridge: Bridge, agent: str | None) -> None:
        self._bridge, self._agent = bridge, agent

    def copy_of(self, tool: Any) -> Any:
        """The tool, asking first."""
        asynchronous = is_async(tool)
        spec, body = spec_of(getattr(tool, "func", tool)), _abody if asynchronous else _body
        asked = self._bridge.tool(
            tool.name, partial(body, tool), asynchronous=asynchronous, spec=spec
        )
        call = self._acall_of if asynchronous else self._call_of
        return renewed(tool, call(asked, self._reader_of(tool)), asks=self._bridge.run)

    def _reader_of(self, tool: Any) -> Reader:
        spec = self._bridge.run.declared(tool.name)
        return reader_of(tool, spec.key_argument if spec.mutates else None)

    def _call_of(self, asked: GuardedTool, read: Reader) -> Any:
        def call(given: Any) -> Any:
            arguments = read(given)
            kept, call_id = Kept(), call_id_of(asked.name, given)
            return kept.shown(asked.call(arguments, kept, call_id=call_id, agent=self._agent))

        return call

    def _acall_of(self, asked: GuardedTool, read: Reader) -> Any:
        async def call(given: Any) -> Any:
            arguments = read(given)
            kept, call_id = Kept(), call_id_of(asked.name, given)
            result = await asked.acall(arguments, kept, call_id=call_id, agent=self._agent)
            return kept.shown(result)

        return call


def _body(tool: Any, given: dict[str, Any], kept: Kept) -> Any:
    return kept.seen(tool.call(given))


async def _abody(tool: Any, given: dict[str, Any], kept: Kept) -> Any:
    return kept.seen(await tool.call(given))
