"""One tool of a framework's, with the body that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_tripwire.adapters.given import Given
from pytest_tripwire.adapters.natives import Body, Native

if TYPE_CHECKING:
    from pytest_tripwire.adapters.bridge import Bridge


class GuardedTool:
    """A tool of a framework's that a run decides about. `Bridge.tool` makes them."""

    def __init__(self, bridge: Bridge, name: str, body: Body, others: Mapping[str, Body]) -> None:
        self.name = name
        self._bridge, self._body, self._others = bridge, body, others

    def call(self, arguments: Mapping[str, Any] | Given, context: Any = None, **call: Any) -> Any:
        """Decide about a call and run the body, or return the refusal.

        Args:
            arguments: by name. `Given` where they were read: the run decides on what the tool
                gets, and the body is handed what was sent.
            context: what the framework hands to its tools besides; the body gets it.
            call: `call_id`, `agent` and `approved`, as `Bridge.call` takes them.
        """
        given = _given(arguments)
        return self._bridge.call(self.name, given.read, self._native(given, context), **call)

    async def acall(
        self, arguments: Mapping[str, Any] | Given, context: Any = None, **call: Any
    ) -> Any:
        """The same for async code."""
        given = _given(arguments)
        native = self._native(given, context)
        return await self._bridge.acall(self.name, given.read, native, **call)

    def _native(self, given: Given, context: Any) -> Native:
        def native(name: str, arguments: dict[str, Any]) -> Any:
            # Another tool may have this name too; each call runs its own.
            if name == self.name:
                return self._body(given.carried(arguments), context)
            return self._others[name](arguments, context)

        return native


def _given(arguments: Mapping[str, Any] | Given) -> Given:
    return arguments if isinstance(arguments, Given) else Given.unread(arguments)
