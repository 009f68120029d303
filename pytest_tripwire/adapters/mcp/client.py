"""A client's session whose calls ask first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import Client, ClientSession

from pytest_tripwire.adapters.mcp.results import Kept
from pytest_tripwire.adapters.mcp.taken import Taken
from pytest_tripwire.guard import BreakerRun, UndeclaredToolError
from pytest_tripwire.timeline import ToolSpec

#: A client's server: within one process it is an object that runs its tools unasked.
_SERVER = "server"


def guarded_session(
    session: Any,
    run: BreakerRun,
    specs: Mapping[str, ToolSpec] | None = None,
    *,
    hints: bool = True,
    agent: str | None = None,
) -> GuardedSession:
    """A session to be used in place of `session`: `await session.call_tool(...)` asks first.

    Args:
        session: an `mcp.Client` or a `ClientSession` that is connected. It is left as it is.
        run: decides.
        specs: declarations by name; they outweigh what the server says of its tools.
        hints: whether the annotations of the server's tools count as declarations. They are its own
            word: False for a server that you do not trust.
        agent: whose session it is, where several agents share the run.

    Raises:
        TypeError: it is no session of one server.
    """
    if not (hasattr(session, "list_tools") and hasattr(session, "call_tool")):
        raise TypeError(
            f"guarded_session() got a {type(session).__name__}: give a connected mcp.Client or a "
            "ClientSession; of a group, each of its sessions"
        )
    return GuardedSession(session, run, Taken(specs, hints=hints), agent)


class GuardedSession:
    """What `guarded_session` gives. What neither lists nor calls tools is the session's own."""

    def __init__(self, session: Any, run: BreakerRun, taken: Taken, agent: str | None) -> None:
        self._session, self._run, self._agent = session, run, agent
        self._taken, self._bridge = taken, taken.bridge(run)

    def __getattr__(self, name: str) -> Any:
        if name == _SERVER:
            raise AttributeError("a guarded session keeps its server to itself: use call_tool()")
        return getattr(self._session, name)

    @property
    def session(self) -> GuardedSession:
        """The session of a guarded client, which the same run guards."""
        return GuardedSession(self._session.session, self._run, self._taken, self._agent)

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """The server's tools, as the session lists them.

        Raises:
            UndeclaredToolError: nobody declared the effect of one.
        """
        page = await self._session.list_tools(*args, **kwargs)
        left_out = self._taken.take(self._bridge, page.tools)
        for error in left_out.values():
            raise error
        return page

    async def send_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Send any request of the protocol's but the call of a tool.

        Raises:
            ValueError: it calls a tool, and would not be asked about.
        """
        if getattr(request, "method", None) == "tools/call":
            raise ValueError("send_request() would call a tool unasked: use call_tool()")
        return await self._session.send_request(request, *args, **kwargs)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *args: Any,
        call_id: str | None = None,
        agent: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Call a tool, or give the refusal as a result with `is_error`.

        Args:
            name: the tool.
            arguments: by name.
            args: passed on to the session.
            call_id: the model's id of the call; the protocol has none.
            agent: which of several agents calls.
            kwargs: passed on to the session.

        Raises:
            UndeclaredToolError: nobody declared its effect.
            ValueError: for `allow_input_required` and `allow_claimed`, whose rounds are one call.
        """
        for option in ("allow_input_required", "allow_claimed"):
            if kwargs.get(option):
                raise ValueError(
                    f"call_tool({option}=True) gives half a call, and nobody can say what became "
                    "of it: guard the mcp.Client, which drives all rounds of a call"
                )
        if self._taken.lacks(name):
            self._taken.complete(name, await self._take_all())
        kept, read = Kept(), self._taken.read(name, arguments or {})

        async def native(which: str, given: dict[str, Any]) -> Any:
            sent = read.carried(given) if which == name else given
            if not self._run.shadow:
                await self._taken.check(which, sent, self._take_all)
            more: Any = (args, kwargs) if which == name else ((), {})
            return kept.seen(await self._session.call_tool(which, sent, *more[0], **more[1]))

        result = await self._bridge.acall(
            name, read.read, native, call_id=call_id, agent=agent or self._agent
        )
        return kept.shown(result)

    async def _take_all(self) -> dict[str, UndeclaredToolError]:
        """Learn of every tool that the server has now. Those that nobody declared."""
        left_out: dict[str, UndeclaredToolError] = {}
        cursor = None
        while True:
            page = await self._session.list_tools(**self._page(cursor))
            left_out |= self._taken.take(self._bridge, page.tools)
            cursor = page.next_cursor
            if not cursor:
                return left_out

    def _page(self, cursor: str | None) -> dict[str, Any]:
        """How this kind of session is asked for a page, and not told what it was told before."""
        if isinstance(self._session, ClientSession):
            return {"params": types.PaginatedRequestParams(cursor=cursor)} if cursor else {}
        asked = {"cursor": cursor} if cursor else {}
        return {**asked, "cache_mode": "refresh"} if isinstance(self._session, Client) else asked
