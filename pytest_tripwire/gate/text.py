"""Text of agents and tools, as reports may show it."""

from __future__ import annotations

_WIDEST = 96


def flat(text: str) -> str:
    """`text` in one line, without what would move a terminal's cursor."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def short(text: str) -> str:
    """The same, cut where it is longer than a line."""
    line = flat(text)
    return line if len(line) <= _WIDEST else line[: _WIDEST - 3] + "..."
