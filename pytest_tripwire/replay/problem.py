"""What could not be read or replayed, as data: the rest goes on."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from pytest_tripwire.replay.trace import Trace


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is wrong with the input.

    Args:
        file: where, as the user named it.
        line: the line, counted from 1; None where none is known.
        column: the byte within that line, counted from 1; None where none is known.
        reason: what is wrong and, where it is not plain, what to do.
    """

    file: str
    line: int | None = None
    column: int | None = None
    reason: str

    @property
    def where(self) -> str:
        """`file:line:column`, as far as it is known."""
        known = [str(part) for part in (self.line, self.column) if part is not None]
        return ":".join([self.file, *known])


Item: TypeAlias = Trace | Problem
