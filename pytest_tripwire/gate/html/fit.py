"""Puts labels where there is room, and cuts them where there is none."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import accumulate

import msgspec

from pytest_tripwire.gate.text import flat

#: Width of a character of a label, and the gap between two labels, in the drawing's units.
CHARACTER = 6.1
_GAP = 5.0
#: Columns of a text that has all the room in the world.
LONGEST = 48
#: Columns below which what is left of a text tells nothing.
_SHORTEST = 3


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A text at its place.

    Args:
        x: where it begins.
        line: in which of several lines it is.
        text: what is written.
        character: how wide one of its columns is.
    """

    x: float
    line: int
    text: str
    character: float = CHARACTER

    @property
    def end(self) -> float:
        """Where the next one may begin."""
        return self.x + columns(self.text) * self.character + _GAP


def fitted(
    wanted: Iterable[tuple[float, str]], lines: int = 1, character: float = CHARACTER
) -> tuple[Label, ...]:
    """Labels that do not overlap, of those that are wanted from left to right. Of two that do not
    fit side by side the earlier one is cut.
    """
    placed: list[list[Label]] = [[] for _ in range(lines)]
    for x, text in wanted:
        line = _line(placed, x)
        if placed[line]:
            placed[line][-1] = _cut(placed[line][-1], x)
        shown = cut(flat(text), LONGEST)
        placed[line].append(Label(x=x, line=line, text=shown, character=character))
    found = (label for each in placed for label in each if label.text)
    return tuple(sorted(found, key=lambda label: label.x))


def _line(placed: list[list[Label]], x: float) -> int:
    """The first line with room, else the one whose last label has the most room already."""
    free = (at for at, each in enumerate(placed) if not each or each[-1].end <= x)
    return next(free, min(range(len(placed)), key=lambda at: placed[at][-1].x if placed[at] else 0))


def _cut(label: Label, before: float) -> Label:
    room = int((before - label.x - _GAP) // label.character)
    return msgspec.structs.replace(label, text=cut(label.text, room))


def cut(text: str, room: int) -> str:
    """`text`, or as much of it as `room` columns hold; nothing if that would tell nothing."""
    if columns(text) <= room:
        return text
    if room < _SHORTEST:
        return ""
    ends = accumulate(_columns(each) for each in text)
    return "".join(each for each, end in zip(text, ends, strict=True) if end < room) + "…"


def columns(text: str) -> int:
    """How many columns a text takes."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
