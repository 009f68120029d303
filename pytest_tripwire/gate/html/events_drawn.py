"""The events of a timeline in their lanes."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_tripwire.gate.html.fit import Label, fitted
from pytest_tripwire.gate.html.flaws import flaws
from pytest_tripwire.gate.html.frame import Frame, label_lines, x_of
from pytest_tripwire.gate.html.glyphs import used
from pytest_tripwire.gate.html.lanes import Lane, mark
from pytest_tripwire.gate.html.markup import Markup, el
from pytest_tripwire.oracle.cell import Cell
from pytest_tripwire.oracle.text import timeline_lines
from pytest_tripwire.timeline import Delivery, Dispatch


def shapes(cell: Cell, frame: Frame) -> Iterator[Markup]:
    """Each event's shape, which says the event's line to whoever points at it."""
    wrong = flaws(cell)
    for at, (event, line) in enumerate(zip(cell.events, timeline_lines(cell.events), strict=True)):
        drawn = mark(event)
        x, y = x_of(at), frame.glyphs(drawn.lane)
        bad = event.seq in wrong
        title = f"{event.seq}, {event.at:,.0f} s, {line.who}: {line.what}"
        if bad:
            yield el("circle", cx=x, cy=y, r=10, class_="ring")
        yield used(drawn.glyph, x, y, title=title, class_="bad" if bad else None)


def labels(cell: Cell) -> list[tuple[Lane, Label]]:
    """What is written in each lane."""
    wanted: dict[Lane, list[tuple[float, str]]] = {lane: [] for lane in Lane}
    for at, event in enumerate(cell.events):
        drawn = mark(event)
        if drawn.label:
            wanted[drawn.lane].append((x_of(at) - 5, drawn.label))
    return [(lane, label) for lane in Lane for label in fitted(wanted[lane], label_lines(lane))]


def joined(cell: Cell, frame: Frame) -> Markup | None:
    """A line from each dispatch to what was told of it."""
    begun: dict[int, int] = {}
    steps = []
    high, low = frame.glyphs(Lane.TOOLS), frame.glyphs(Lane.ANSWERS)
    for at, event in enumerate(cell.events):
        if isinstance(event, Dispatch):
            begun[event.seq] = at
        elif isinstance(event, Delivery) and event.dispatch in begun:
            steps.append(f"M{x_of(begun[event.dispatch]):g} {high:g}L{x_of(at):g} {low:g}")
    return el("path", d="".join(steps), class_="join") if steps else None
