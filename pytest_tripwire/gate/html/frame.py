"""The measures of a timeline's drawing, in its own units, which are pixels until it is scaled."""

from __future__ import annotations

import msgspec

from pytest_tripwire.gate.html.lanes import Lane

STEP = 34.0
#: Where the first event is.
FIRST = 16.0
#: Width of the column with the names of the lanes.
GUTTER = 84
LINE = 13.0
PLOT = 66.0

#: For each lane, the name that it carries, its height, where its shapes are, and its labels.
_LANES: dict[Lane, tuple[str, float, float, float, int]] = {
    Lane.MODEL: ("model", 42, 13, 31, 1),
    Lane.BREAKER: ("breaker", 55, 13, 31, 2),
    Lane.TOOLS: ("tools", 45, 36, 11, 2),
    Lane.ANSWERS: ("", 44, 15, 33, 1),
    Lane.WORLD: ("world", 55, 15, 33, 2),
}


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """How high what is. `flags`: the lines that they take; `plot`: whether there are budgets."""

    flags: int
    plot: bool

    @property
    def head(self) -> float:
        """Where the flags end and the events' numbers begin."""
        return self.flags * (LINE + 2) + 2

    @property
    def plot_top(self) -> float:
        """Where all of a budget is left."""
        return self.head + 40

    @property
    def lanes_top(self) -> float:
        """Where the first lane begins."""
        return self.plot_top + (PLOT + 14 if self.plot else -6)

    @property
    def height(self) -> float:
        """Of the whole drawing."""
        return self.lanes_top + sum(each[1] for each in _LANES.values()) + 2

    def top(self, lane: Lane) -> float:
        """Where a lane begins."""
        order = tuple(_LANES)
        return self.lanes_top + sum(_LANES[each][1] for each in order[: order.index(lane)])

    def glyphs(self, lane: Lane) -> float:
        """The height of a lane's shapes."""
        return self.top(lane) + _LANES[lane][2]

    def label(self, lane: Lane, line: int) -> float:
        """The base of one of a lane's lines of labels."""
        return self.top(lane) + _LANES[lane][3] + line * LINE


def x_of(at: float) -> float:
    """Where the event at this place of the order is, from 0."""
    return FIRST + at * STEP


def name_of(lane: Lane) -> str:
    """What a lane is called; empty for one that belongs to the lane above it."""
    return _LANES[lane][0]


def label_lines(lane: Lane) -> int:
    """In how many lines its labels may be written."""
    return _LANES[lane][4]
