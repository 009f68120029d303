"""A server's middleware: every call of a tool asks first, whoever the client is."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types as types

from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.mcp.results import Kept
from pytest_tripwire.adapters.mcp.runs import Lent, RunPerSession
from pytest_tripwire.adapters.mcp.serving import failed
from pytest_tripwire.adapters.mcp.taken import Taken
from pytest_tripwire.guard import Breaker, BreakerRun
from pytest_tripwire.timeline import ToolSpec

log = logging.getLogger("pytest_tripwire.adapters.mcp")

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
        #: Tools of which the log was told that they cannot write.
        self._warned: set[str] = set()
        #: What holds nothing of its run, or no run would ever be let go.
        self._taken: WeakKeyDictionary[BreakerRun, Taken] = WeakKeyDictionary()

    async def __call__(self, context: Any, call_next: Callable[[Any], Any]) -> Any:
        """Hand a message on, unless it calls a tool and may not.

        Raises:
            UndeclaredToolError: nobody declared the effect of one of the server's tools.
        """
        if context.method != _CALL or context.request_id is None:
            return await call_next(context)
        with self._lend(context) as lent:
            return await self._asked(lent, context, call_next)

    async def _asked(self, lent: Lent, context: Any, call_next: Callable[[Any], Any]) -> Any:
        params = dict(context.params or {})
        name = params.get("name", "")
        run, kept = lent.run, Kept()
        taken = self._taken.setdefault(run, Taken(self._specs, hints=self._hints))
        bridge = await _knowing(taken, taken.bridge(run), name, context, call_next)
        if not lent.writes and not run.shadow and _writes(run, name):
            return failed(self._unnamed(name))

        read = taken.read(name, params.get("arguments") or {})

        async def listed_anew() -> None:
            taken.take(bridge, await _listed(context, call_next))

        async def native(which: str, arguments: dict[str, Any]) -> Any:
            sent = read.carried(arguments) if which == name else arguments
            if not run.shadow:
                await taken.check(which, sent, listed_anew)
            own = {**params, "name": which, "arguments": sent}
            given = await call_next(dataclasses.replace(context, params=own))
            return kept.seen(_result(given))

        result = await bridge.acall(name, read.read, native)
        return kept.shown(result)

    def _unnamed(self, name: str) -> str:
        """What is said of a write that nobody could know again."""
        said = (
            f"{name!r} writes, and was not run: its request has no session and names no piece of "
            "work, so that nobody would know the write again if it were asked for twice. The "
            "server says what a request belongs to by RunPerSession(piece_of=...); if each is a "
            "piece of work by itself, by RunPerSession(unnamed_writes=True)"
        )
        if name not in self._warned:
            self._warned.add(name)
            log.warning("%s", said)
        return said


def _lending(
    runs: Breaker | RunPerSession | Callable[[Any], BreakerRun],
) -> Callable[[Any], AbstractContextManager[Lent]]:
    """How the run is had that decides about a request."""
    if isinstance(runs, RunPerSession):
        return runs.lend
    if isinstance(runs, Breaker):
        return RunPerSession(runs).lend
    return lambda context: nullcontext(Lent(run=runs(context)))


def _writes(run: BreakerRun, name: str) -> bool:
    try:
        return run.declared(name).mutates
    except KeyError:  # a tool that the server does not have
        return False


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
