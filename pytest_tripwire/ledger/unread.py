"""What somebody who looks through many things has had to leave out, as it cannot be read."""

from __future__ import annotations

from pytest_tripwire.ledger.errors import UnreadableError

#: Of a process that lives long, and meets the same again and again.
_MOST = 1000


class Unread:
    """What was left out of a list, so that whoever has asked for it is told. One thing that cannot
    be read hides no other; nothing is ever left out where a write is decided about.
    """

    def __init__(self) -> None:
        self._why: dict[str, str] = {}

    def leave_out(self, what: str, error: UnreadableError) -> None:
        """Note one thing, however often it is met."""
        if len(self._why) < _MOST:
            self._why.setdefault(what, str(error))

    def told(self) -> tuple[str, ...]:
        """A line for each: what it is, and why it cannot be read."""
        return tuple(f"{what}: {why}" for what, why in self._why.items())
