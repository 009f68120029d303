"""Records for programs, and the schema that they can rely on."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from pytest_tripwire.timeline import Count, Happening, InterruptionRecord

_DELETE = {0x7F: "\\u007f"}


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What `records show --json` prints.

    Args:
        record: the record, with its writes and what is safe as they are known now.
        happenings: what became of its interruptions, oldest first.
    """

    record: InterruptionRecord
    happenings: tuple[Happening, ...]


def line(value: Any) -> bytes:
    """One value as one line of ASCII: no terminal and no CI service reads anything into it."""
    text = json.dumps(msgspec.to_builtins(value), separators=(",", ":"))
    return text.translate(_DELETE).replace("##", "#\\u0023").encode() + b"\n"


def schema() -> dict[str, Any]:
    """The format in JSON Schema, as the documentation publishes it: a record, and beside it what
    `show` and `stats` print.
    """
    kinds = (InterruptionRecord, Shown, Count)
    _, parts = msgspec.json.schema_components(kinds)
    return {
        "title": "Interruption record of agent-tripwire records",
        "$ref": "#/$defs/InterruptionRecord",
        "$defs": dict(sorted(parts.items())),
    }
