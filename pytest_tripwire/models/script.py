"""What a scripted model may look at, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias

import msgspec


class Propose(msgspec.Struct, frozen=True, kw_only=True):
    """The scripted model wants the tool that plays `role`.

    Args:
        role: what the tool does in the case, such as `search`; never a tool's name.
        slots: values by their meaning; the binder turns them into the tool's arguments.
    """

    role: str
    slots: Mapping[str, Any] = msgspec.field(default_factory=dict)


class Calls(msgspec.Struct, frozen=True, kw_only=True):
    """A turn that proposes tool calls; several of them are parallel calls.

    Args:
        proposals: at least one. Raises `ValueError` when there is none.
        says: what the model says beside them.
    """

    proposals: tuple[Propose, ...]
    says: str = ""

    def __post_init__(self) -> None:
        if not self.proposals:
            raise ValueError("Calls without a proposal: give at least one Propose, or use Say")


class Say(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of words alone; most agents take it for their final answer."""

    text: str


Move: TypeAlias = Calls | Say


class ToolResult(msgspec.Struct, frozen=True, kw_only=True):
    """A tool result as a request shows it.

    Args:
        call_id: id of the call that it answers.
        text: the whole text of the result.
        refused: whether it is an object that says `"refused": true`.
    """

    call_id: str
    text: str
    refused: bool


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """All that a script may look at.

    Args:
        turn: moves that the scripted model already made in this conversation, from 0.
        results: what answers the latest move.
        all_results: every tool result that the request still shows, oldest first.
    """

    turn: int
    results: tuple[ToolResult, ...] = ()
    all_results: tuple[ToolResult, ...] = ()


#: A pure function: SDKs send a request again when it fails, and the same
#: request has to get the same move.
Script: TypeAlias = Callable[[Seen], Move]


class Binder(Protocol):
    """Knows which of the agent's own tools plays which role."""

    def tool_name(self, role: str) -> str:
        """The name of the tool that plays `role`. Raises for a role that no tool plays."""

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of that tool, by name, with `slots` in their places."""
