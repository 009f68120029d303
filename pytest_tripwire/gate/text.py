"""Text of agents and tools, as reports may show it."""

from __future__ import annotations

import re

#: What a CI service takes for a command: `::error::` after nothing but spaces, `##[error]` and
#: `##vso[...]` anywhere in a line of its log.
_COMMAND = re.compile(r"^(\s*):(?=:)|##(?=\w*\[)")

_WIDEST = 96


def flat(text: str) -> str:
    """`text` in one line, without what would move a terminal's cursor."""
    return " ".join(visible(text).split())


def visible(text: str) -> str:
    """`text` with a space for each character that would move a cursor or cannot be seen."""
    return "".join(each if each.isprintable() else " " for each in text)


def short(text: str) -> str:
    """The same, cut where it is longer than a line."""
    line = flat(text)
    return line if len(line) <= _WIDEST else line[: _WIDEST - 3] + "..."


def inert(line: str) -> str:
    """A line of a terminal's output in which no CI service reads a command: a space is put into
    what would be one.
    """
    return _COMMAND.sub(lambda found: f"{found[0]} ", line)
