"""The arguments of one call, as they were sent and as the tool gets them.

A model may write one call in several ways: a default left out or given, 17 or "17". A run that
compared the words would take the second way for another call, and let a write be made twice. So it
decides on what the tool is given, and the framework is handed the model's own words, as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of one call.

    Args:
        sent: as the model has sent them.
        read: as the tool gets them, in the form that JSON has for them; a run decides on these.
    """

    sent: dict[str, Any]
    read: dict[str, Any]

    @classmethod
    def unread(cls, sent: Mapping[str, Any]) -> Given:
        """Where nobody can tell how a tool reads them, or they do not fit."""
        return cls(sent=dict(sent), read=dict(sent))

    def carried(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What the framework is handed, which reads it itself: the model's own words, and what the
        breaker has put in.

        Args:
            arguments: those that the run lets through.
        """
        own = {
            name: value
            for name, value in arguments.items()
            if name not in self.read or self.read[name] != value
        }
        return {**self.sent, **own}


def without(key: str | None, taken: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments without the one that the breaker fills in, whatever stood in for it meanwhile."""
    return {name: value for name, value in taken.items() if name != key}
