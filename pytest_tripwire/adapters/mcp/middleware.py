"""A server's middleware: every call of a tool asks first, whoever the client is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types

from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.mcp.hints import spec_of_tool
from pytest_tripwire.adapters.mcp.results import Kept
from pytest_tripwire.adapters.mcp.serving import failed
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec

_CALL = "tools/call"
_LIST = "tools/list"


class ServerMiddleware:
    """`MCPServer(middleware=[ServerMiddleware(run_of)])`, or `server.middleware.append(...)`.

    Args:
        run_of: gives the run that decides about a request, by the server's context of it: one for
            each client's piece of work. The end of the run, and so what it tells, is yours.
        specs: declarations by name; they outweigh what the server says of its tools.
        hints: whether the annotations of the server's tools count as declarations.
    """

    def __init__(
        self,
        run_of: Callable[[Any], BreakerRun],
        specs: Mapping[str, ToolSpec] | None = None,
        *,
        hints: bool = True,
    ) -> None:
        self._run_of, self._specs, self._hints = run_of, specs, hints
        self._bridges: WeakKeyDictionary[BreakerRun, Bridge] = WeakKeyDictionary()

    async def __call__(self, context: Any, call_next: Callable[[Any], Any]) -> Any:
        """Hand a message on, unless it calls a tool and may not.

        Raises:
            UndeclaredToolError: nobody declared the effect of one of the server's tools.
        """
        if context.method != _CALL or context.request_id is None:
            return await call_next(context)
        params = dict(context.params or {})
        bridge = await self._bridge(self._run_of(context), context, call_next)
        kept = Kept()

        async def native(name: str, arguments: dict[str, Any]) -> Any:
            own = {**params, "name": name, "arguments": arguments}
            given = await call_next(dataclasses.replace(context, params=own))
            return kept.seen(_result(given))

        result = await bridge.acall(params.get("name", ""), params.get("arguments") or {}, native)
        return kept.shown(result)

    async def _bridge(
        self, run: BreakerRun, context: Any, call_next: Callable[[Any], Any]
    ) -> Bridge:
        known = self._bridges.get(run)
        if known is not None:
            return known
        bridge = Bridge(run, self._specs)
        for tool in await _listed(context, call_next):
            spec = spec_of_tool(tool) if self._hints else None
            bridge.take(tool.name, asynchronous=True, spec=spec)
        self._bridges[run] = bridge
        return bridge


def _result(given: Any) -> Any:
    """The result of a call. One that asks the client back has none yet, and nobody could say what
    it has done so far.
    """
    told = given if isinstance(given, dict) else given.model_dump(by_alias=True)
    if "content" not in told:
        return failed(f"this tool asks back ({told.get('resultType')}), which is not guarded")
    return types.CallToolResult.model_validate(told)


async def _listed(context: Any, call_next: Callable[[Any], Any]) -> list[Any]:
    """Every tool of the server, as a client would be told of it."""
    found: list[Any] = []
    # Later releases of the protocol demand what a request says of its client.
    own = {key: value for key, value in (context.params or {}).items() if key == "_meta"}
    params = own
    while True:
        asked = dataclasses.replace(context, method=_LIST, params=params)
        page = types.ListToolsResult.model_validate(await call_next(asked))
        found += page.tools
        if not page.next_cursor:
            return found
        params = {**own, "cursor": page.next_cursor}
