"""Ids of responses and their items. Those of items carry the turn, as call ids do."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from pytest_tripwire.models.call_ids import read_call_id

_CALL, _FUNCTION = "call_", "fc_"
_MESSAGE = re.compile(r"msg_[0-9a-f]{16}_([0-9]{1,6})_[0-9a-f]{16}")


def digest(*parts: Any) -> str:
    """A digest of JSON."""
    content = msgspec.json.encode(parts, order="deterministic")
    return hashlib.sha256(content).hexdigest()[:32]


def make_message_id(key: str, turn: int, response: str) -> str:
    """The id of the message of a turn in a response of this digest."""
    return f"msg_{key}_{turn}_{response[:16]}"


def make_function_id(call_id: str) -> str:
    """The id of the item of a call."""
    return _FUNCTION + call_id.removeprefix(_CALL)


def referred_call(item_id: str) -> str:
    """The id of the call whose item has this id; empty for an item that is none of ours."""
    call_id = _CALL + item_id.removeprefix(_FUNCTION)
    ours = item_id.startswith(_FUNCTION) and read_call_id(call_id) is not None
    return call_id if ours else ""


def read_turn(item_id: str, call_id: str = "") -> int | None:
    """The turn of an item with these ids; None when the scripted model did not make it."""
    own = read_call_id(call_id or referred_call(item_id))
    if own is not None:
        return own.turn
    message = _MESSAGE.fullmatch(item_id)
    return int(message[1]) if message else None
