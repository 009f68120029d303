"""A server's middleware: every call of a tool asks first, whoever the client is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types

from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.mcp.results import Kept
from pytest_tripwire.adapters.mcp.runs import RunPerSession
from pytest_tripwire.adapters.mcp.serving import failed
from pytest_tripwire.adapters.mcp.taken import Taken
from pytest_tripwire.guard import Breaker, BreakerRun
from pytest_tripwire.timeline import ToolSpec

_CALL = "tools/call"
_LIST = "tools/list"


class ServerMiddleware:
    """`MCPServer(middleware=[ServerMiddleware(breaker)])`, or `server.middleware.append(...)`.

    Args:
        runs: whose runs decide. A `Breaker` gives each session one of its own, as `RunPerSession`
            does, which takes more settings; or a function of yours that gives the run for the
            server's context of a request. The end of such a run, and so what it tells, is yours.
        specs: declarations by name; they outweigh what the server says of its tools.
        hints: whether the annotations of the server's tools count as declarations.
    """

    def __init__(
        self,
        runs: Breaker | RunPerSession | Callable[[Any], BreakerRun],
        specs: Mapping[str, ToolSpec] | None = None,
        *,
        hints: bool = True,
    ) -> None:
        self._lend = _lending(runs)
        self._specs, self._hints = specs, hints
        #: What holds nothing of its run, or no run would ever be let go.
        self._taken: WeakKeyDictionary[BreakerRun, Taken] = WeakKeyDictionary()

    async def __call__(self, context: Any, call_next: Callable[[Any], Any]) -> Any:
        """Hand a message on, unless it calls a tool and may not.

        Raises:
            UndeclaredToolError: nobody declared the effect of one of the server's tools.
        """
        if context.method != _CALL or context.request_id is None:
            return await call_next(context)
        with self._lend(context) as run:
            return await self._asked(run, context, call_next)

    async def _asked(self, run: BreakerRun, context: Any, call_next: Callable[[Any], Any]) -> Any:
        params = dict(context.params or {})
        name = params.get("name", "")
        taken = self._taken.setdefault(run, Taken(self._specs, hints=self._hints))
        bridge = await _knowing(taken, taken.bridge(run), name, context, call_next)
        kept = Kept()

        async def listed_anew() -> None:
            taken.take(bridge, await _listed(context, call_next))

        async def native(which: str, arguments: dict[str, Any]) -> Any:
            await taken.check(which, arguments, listed_anew)
            own = {**params, "name": which, "arguments": arguments}
            given = await call_next(dataclasses.replace(context, params=own))
            return kept.seen(_result(given))

        result = await bridge.acall(name, params.get("arguments") or {}, native)
        return kept.shown(result)


def _lending(
    runs: Breaker | RunPerSession | Callable[[Any], BreakerRun],
) -> Callable[[Any], AbstractContextManager[BreakerRun]]:
    """How the run is had that decides about a request."""
    if isinstance(runs, RunPerSession):
        return runs.lend
    if isinstance(runs, Breaker):
        return RunPerSession(runs).lend
    return lambda context: nullcontext(runs(context))


async def _knowing(
    taken: Taken, bridge: Bridge, name: str, context: Any, call_next: Callable[[Any], Any]
) -> Bridge:
    """`bridge`, whose run knows every tool that the server has."""
    if taken.lacks(name):
        taken.complete(name, taken.take(bridge, await _listed(context, call_next)))
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
