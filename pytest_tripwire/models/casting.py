"""Which of an agent's tools plays a part this time."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, runtime_checkable

from pytest_tripwire.models.script import Binder


@runtime_checkable
class Casting(Binder, Protocol):
    """A binder that knows parts which several tools may play."""

    def tools_of(self, role: str) -> tuple[str, ...]:
        """The names of all tools that play `role`. Raises for a role that no tool plays."""

    def tool_for(
        self, role: str, slots: Mapping[str, Any], offered: AbstractSet[str]
    ) -> str | None:
        """Which of the offered tools plays `role` this time, None where none of them does. The same
        for the same arguments. Raises as `tools_of` does.
        """

    def arguments_for(self, role: str, slots: Mapping[str, Any], tool: str) -> dict[str, Any]:
        """The arguments of that tool, by name, with `slots` in their places."""

    def roads(self) -> tuple[str, ...]:
        """Hand-offs that play no part here, by which a router is passed."""


class OneEach:
    """A binder that has one tool for each part."""

    def __init__(self, binder: Binder) -> None:
        self._binder = binder

    def tool_name(self, role: str) -> str:
        """As the binder has it."""
        return self._binder.tool_name(role)

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        """As the binder has it."""
        return self._binder.arguments(role, slots)

    def tools_of(self, role: str) -> tuple[str, ...]:
        """The one tool. Raises whatever the binder raises."""
        return (self._binder.tool_name(role),)

    def tool_for(
        self, role: str, _slots: Mapping[str, Any], offered: AbstractSet[str]
    ) -> str | None:
        """That tool, if it is offered."""
        name = self._binder.tool_name(role)
        return name if name in offered else None

    def arguments_for(self, role: str, slots: Mapping[str, Any], _tool: str) -> dict[str, Any]:
        """What the binder makes of the slots."""
        return self._binder.arguments(role, slots)

    def roads(self) -> tuple[str, ...]:
        """None that are known."""
        return ()


def casting(binder: Binder) -> Casting:
    """What a binder knows, whether or not it knows parts that several tools may play."""
    return binder if isinstance(binder, Casting) else OneEach(binder)
