"""Text of strangers, made safe to print: traces hold what a model or a tool has written."""

from __future__ import annotations

_WIDEST = 200


def flat(text: str, widest: int = _WIDEST) -> str:
    """`text` in one line, without what would move a terminal's cursor, and not for ever."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= widest else line[: widest - 3] + "..."
