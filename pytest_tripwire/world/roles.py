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
    TARGET = "target"
    DETAIL = "detail"
    FIELD = "field"
    VALUE = "value"
    CURSOR = "cursor"


#: What is acted on.
RESOURCE = Slot.RESOURCE
#: How much.
AMOUNT = Slot.AMOUNT
#: Free text: other words for the same thing.
WORDING = Slot.WORDING
#: An id or a time that is minted for each attempt.
NONCE = Slot.NONCE
#: To whom a task is handed.
TARGET = Slot.TARGET
#: What a hand-off has found out so far.
DETAIL = Slot.DETAIL
#: By which field something is looked up, or which one is set.
FIELD = Slot.FIELD
#: The value to look for, or to set.
VALUE = Slot.VALUE
#: Where to go on reading.
CURSOR = Slot.CURSOR


class Role(msgspec.Struct, frozen=True):
    """One of a team's tools in its part.

    `Role(pay_back, {"order": RESOURCE, "note": WORDING, "request_id": NONCE})`, or, where several
    tools play one part, `Role((transfer_to_billing, transfer_to_triage), {"reason": WORDING})`.

    Args:
        tool: the team's callable, or its definition as a provider takes it (a mapping with name,
            description and JSON schema), or a tool of a framework that there is an adapter for. It
            is what the agent sees; its body never runs. A tuple or list of them: the scripted model
            calls one that the request offers.
        args: what each argument means; a value that is no `Slot` is passed as it stands. A
            required argument that is not named gets the least value that its schema allows. Of
            several tools each takes from it what it has.
        result: turns the world's result into the shape that the team's tool would return.
    """

    tool: Any
    args: Mapping[str, Any] = {}
    result: Callable[[Any], Any] | None = None

    @property
    def tools(self) -> tuple[Any, ...]:
        """The tools that play the part, in order."""
        return tuple(self.tool) if isinstance(self.tool, tuple | list) else (self.tool,)
