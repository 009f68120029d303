"""What a tool does in a case, and what its arguments mean there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec


class Slot(StrEnum):
    """The meaning of an argument. A case speaks of meanings; a role says where they go."""

    RESOURCE = "resource"
    AMOUNT = "amount"
    WORDING = "wording"
    NONCE = "nonce"


RESOURCE = Slot.RESOURCE
AMOUNT = Slot.AMOUNT
WORDING = Slot.WORDING
NONCE = Slot.NONCE


class Role(msgspec.Struct, frozen=True):
    """One of a team's tools in its part.

    `Role(issue_credit, {"order": RESOURCE, "note": WORDING, "request_id": NONCE})`

    Args:
        tool: the team's callable: its name, signature and docstring are what the agent sees; its
            body never runs.
        args: what each argument means; a value that is no `Slot` is passed as it stands.
        result: turns the world's result into the shape that the team's tool would return.
    """

    tool: Callable[..., Any]
    args: Mapping[str, Any] = {}
    result: Callable[[Any], Any] | None = None

    @property
    def name(self) -> str:
        """The name under which the model calls the tool."""
        return self.tool.__name__
