"""Tools for the tool runner that ask a run before they act."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import compress
from typing import Any

import msgspec

from pytest_tripwire.adapters.anthropic.copies import asks, check_of, is_async, is_tool, renewed
from pytest_tripwire.adapters.anthropic.results import Kept
from pytest_tripwire.adapters.anthropic.turn import call_id_of
from pytest_tripwire.adapters.bridge import Bridge, Native
from pytest_tripwire.adapters.forms import awaited
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
    kept = list(tools)
    guard = _Guard(Bridge(run, specs), agent)
    bare = [is_tool(each) and not asks(each, run) for each in kept]
    for each in compress(kept, bare):
        guard.take(each, told=each.name in (specs or {}))
    return [guard.copy_of(each) if new else each for each, new in zip(kept, bare, strict=True)]


class _Guard:
    """What the guarded tools of one list have in common."""

    def __init__(self, bridge: Bridge, agent: str | None) -> None:
        self._bridge, self._agent = bridge, agent
        self._tools: dict[str, Any] = {}
        self._own_specs: dict[str, ToolSpec | None] = {}

    def take(self, tool: Any, *, told: bool) -> None:
        """Take a tool in; `told` says that the caller has declared it, whatever it says itself."""
        name, spec = tool.name, spec_of(getattr(tool, "func", tool))
        known_as = spec and msgspec.structs.replace(spec, name=name)
        if not told and self._own_specs.setdefault(name, known_as) != known_as:
            raise TypeError(
                f"two tools of this list are called {name!r}, and they are declared differently: "
                "a run tells tools apart by their names. Rename one of them"
            )
        self._bridge.take(name, asynchronous=is_async(tool), spec=spec)
        self._tools[name] = tool

    def copy_of(self, tool: Any) -> Any:
        """The tool, asking first."""
        call = self._acall_of(tool) if is_async(tool) else self._call_of(tool)
        return renewed(tool, call, asks=self._bridge.run)

    def _native_of(self, tool: Any) -> Native:
        """Runs the tool, or the read that settles its lost write. Where two tools of the list have
        one name, each runs its own body.
        """
        return lambda which, given: (tool if which == tool.name else self._tools[which]).call(given)

    def _check_of(self, tool: Any) -> Callable[[object], None]:
        spec = self._bridge.run.declared(tool.name)
        return check_of(tool, spec.key_argument if spec.mutates else None)

    def _call_of(self, tool: Any) -> Any:
        name, check = tool.name, self._check_of(tool)

        def call(given: Any) -> Any:
            check(given)
            kept = Kept()
            native = kept.over(self._native_of(tool))
            call_id = call_id_of(name, given)
            result = self._bridge.call(name, given, native, call_id=call_id, agent=self._agent)
            return kept.shown(result)

        return call

    def _acall_of(self, tool: Any) -> Any:
        name, check = tool.name, self._check_of(tool)

        async def call(given: Any) -> Any:
            check(given)
            kept = Kept()
            native = kept.aover(awaited(self._native_of(tool)))
            call_id = call_id_of(name, given)
            result = await self._bridge.acall(
                name, given, native, call_id=call_id, agent=self._agent
            )
            return kept.shown(result)

        return call
