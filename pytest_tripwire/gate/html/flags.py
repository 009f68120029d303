"""What a reader has to see at once: where the run was interrupted, and what should not be there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from pytest_tripwire.gate.html.fit import Label, fitted
from pytest_tripwire.gate.html.flaws import flaws
from pytest_tripwire.gate.html.frame import Frame, x_of
from pytest_tripwire.gate.html.lanes import Lane, mark
from pytest_tripwire.gate.html.markup import Markup, el
from pytest_tripwire.oracle.cell import Cell

_LINES = 3
#: Columns of flags are wider: they are in no fixed font, and bold.
_CHARACTER = 7.4
_HIGH = 15


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """A text over an event.

    Args:
        at: the event's place in the order, from 0.
        seq: its number.
        text: what is to be seen.
        lane: the event's, to which a line goes down; None for the interruption, whose line goes
            through all lanes.
    """

    at: int
    seq: int
    text: str
    lane: Lane | None = None

    @property
    def x(self) -> float:
        """Where the text begins."""
        return x_of(self.at) - 4


def flags(cell: Cell) -> tuple[Flag, ...]:
    """All of them, from left to right."""
    return tuple(_flags(cell))


def _flags(cell: Cell) -> Iterator[Flag]:
    wrong = flaws(cell)
    why = f": {cell.reason.value.replace('_', ' ')}" if cell.reason else ""
    for at, event in enumerate(cell.events):
        if event.seq and event.seq == cell.stop_seq:
            yield Flag(at=at, seq=event.seq, text=f"■ interrupted{why}")
        if event.seq in wrong:
            yield Flag(at=at, seq=event.seq, text=f"✗ {wrong[event.seq]}", lane=mark(event).lane)


def fitted_flags(found: Sequence[Flag]) -> tuple[Label, ...]:
    """Their texts, as far as there is room."""
    return fitted(((each.x, each.text) for each in found), _LINES, _CHARACTER)


def heads(texts: Sequence[Label]) -> int:
    """How many lines these take."""
    return 1 + max((each.line for each in texts), default=-1)


def written_flags(texts: Sequence[Label]) -> Iterator[Markup]:
    """The texts as they are drawn."""
    for each in texts:
        wrong = "flag bad" if each.text.startswith("✗") else "flag"
        yield el("text", each.text, x=each.x, y=(each.line + 1) * _HIGH - 3, class_=wrong)


def lines(found: Sequence[Flag], frame: Frame) -> Iterator[Markup]:
    """From each text down: through all lanes for the interruption, else to the event."""
    for each in found:
        end = frame.height if each.lane is None else frame.glyphs(each.lane) - 10
        path = f"M{x_of(each.at):g} {frame.head:g}V{end:g}"
        yield el("path", d=path, class_="stopped" if each.lane is None else "offence")
