"""How a piece of work and what the user has said in it are one name, as the ledger keeps it."""

from __future__ import annotations

#: No request id of anybody holds this.
_BETWEEN = "\x1f"


def epoch_of(work: str, messages: int) -> str:
    """The epoch of `work` after so many messages of the user."""
    return f"{work}{_BETWEEN}{messages}" if messages else work


def messages_of(epoch: str) -> int:
    """How often the user had spoken by then. What nobody here has made is before all messages."""
    number = epoch.partition(_BETWEEN)[2]
    return int(number) if number.isdecimal() and number.isascii() else 0


def work_of(epoch: str) -> str:
    """The piece of work that an epoch belongs to."""
    return epoch.partition(_BETWEEN)[0]
