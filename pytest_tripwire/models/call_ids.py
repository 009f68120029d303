"""Call ids of the scripted model. They carry the turn, so that a trimmed history still tells it."""

from __future__ import annotations

import hashlib
import re

import msgspec

_OWN = re.compile(r"call_([0-9a-f]{16})_([0-9]{1,6})_([0-9]{1,4})")

_ROAD = re.compile(r"road_[0-9]{1,6}_[0-9a-f]{16}")


class OwnId(msgspec.Struct, frozen=True, kw_only=True):
    """What one of our call ids says: the conversation's key, the turn, and the place in its
    message, both counted from 0.
    """

    key: str
    turn: int
    index: int


def make_call_id(key: str, turn: int, index: int) -> str:
    """The id of call number `index` of a turn, both counted from 0."""
    return f"call_{key}_{turn}_{index}"


def read_call_id(call_id: str) -> OwnId | None:
    """What `call_id` says, or None when the scripted model did not make it."""
    found = _OWN.fullmatch(call_id)
    return OwnId(key=found[1], turn=int(found[2]), index=int(found[3])) if found else None


def make_road_id(turn: int, tool: str) -> str:
    """The id of a hand-off before a turn that is no move of the script's."""
    return f"road_{turn}_{hashlib.sha256(tool.encode()).hexdigest()[:16]}"


def is_road_id(call_id: str) -> bool:
    """Whether a call was none of the script's moves, but only led to another agent."""
    return _ROAD.fullmatch(call_id) is not None
