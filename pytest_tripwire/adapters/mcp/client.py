"""A client's session whose calls ask first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import ClientSession

from pytest_tripwire.adapters.bridge import Bridge
from pytest_tripwire.adapters.mcp.hints import spec_of_tool
from pytest_tripwire.adapters.mcp.results import Kept
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import ToolSpec


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
    """
    return GuardedSession(session, run, specs, hints=hints, agent=agent)


class GuardedSession:
    """What `guarded_session` gives. What neither lists nor calls tools is the session's own."""

    def __init__(
        self,
        session: Any,
        run: BreakerRun,
        specs: Mapping[str, ToolSpec] | None = None,
        *,
        hints: bool = True,
        agent: str | None = None,
    ) -> None:
        self._session, self._hints, self._agent = session, hints, agent
        self._bridge = Bridge(run, specs)
        self._listed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def list_tools(self, *args: Any, **kwargs: Any) -> Any:
        """The server's tools, as the session lists them.

        Raises:
            UndeclaredToolError: nobody declared the effect of one.
        """
        page = await self._session.list_tools(*args, **kwargs)
        for tool in page.tools:
            spec = spec_of_tool(tool) if self._hints else None
            self._bridge.take(tool.name, asynchronous=True, spec=spec)
        self._listed = self._listed or not page.next_cursor
        return page

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
        if not self._listed:
            await self._list_all()
        kept = Kept()

        async def native(which: str, given: dict[str, Any]) -> Any:
            more: Any = (args, kwargs) if which == name else ((), {})
            return kept.seen(await self._session.call_tool(which, given, *more[0], **more[1]))

        result = await self._bridge.acall(
            name, arguments or {}, native, call_id=call_id, agent=agent or self._agent
        )
        return kept.shown(result)

    async def _list_all(self) -> None:
        """Learn of every tool that the server has."""
        cursor = None
        while True:
            page = await self.list_tools(**self._page(cursor))
            cursor = page.next_cursor
            if not cursor:
                return

    def _page(self, cursor: str | None) -> dict[str, Any]:
        """How this kind of session is asked for a page."""
        if cursor is None or not isinstance(self._session, ClientSession):
            return {"cursor": cursor} if cursor else {}
        return {"params": types.PaginatedRequestParams(cursor=cursor)}
