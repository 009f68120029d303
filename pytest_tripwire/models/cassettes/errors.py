"""What goes wrong with cassettes."""

from __future__ import annotations


class CassetteError(Exception):
    """A cassette cannot be used, or holds no answer. The message says what to do, and never what
    was sent.
    """

    __module__ = "pytest_tripwire.models.cassettes"


class CassetteDivergence(CassetteError):  # noqa: N818 - the agent diverged, nothing is broken
    """The agent asked something else than what was recorded, or more.

    Args:
        message: which cassette, which request, where it differs, and what to do.
        number: the number of the agent's request, from 1.
        field: the first field that differs, such as `messages[2].content`; empty when the agent
            asked more than was recorded.
    """

    __module__ = "pytest_tripwire.models.cassettes"

    def __init__(self, message: str, *, number: int, field: str = "") -> None:
        super().__init__(message)
        self.number = number
        self.field = field
