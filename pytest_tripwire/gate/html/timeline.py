"""A run as a drawing: budgets above, four lanes below, one step for each event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.gate.html.budgets import Falling, falling
from pytest_tripwire.gate.html.events_drawn import joined, labels, shapes
from pytest_tripwire.gate.html.fit import Label
from pytest_tripwire.gate.html.flags import Flag, fitted_flags, flags, heads, lines, written_flags
from pytest_tripwire.gate.html.frame import GUTTER, PLOT, Frame, name_of, x_of
from pytest_tripwire.gate.html.lanes import Lane
from pytest_tripwire.gate.html.markup import Markup, el, join
from pytest_tripwire.gate.html.places import Place
from pytest_tripwire.gate.html.plot import plot, plot_end
from pytest_tripwire.oracle.cell import Cell
from pytest_tripwire.timeline import AnyEvent

#: Width of a printed page, in pixels.
_PAPER = 690


def timeline(place: Place, cell: Cell) -> Markup:
    """The drawing, in a box that scrolls within itself; the names of the lanes stay in view."""
    found, drawn = flags(cell), [each for each in falling(cell) if each.shares]
    texts = fitted_flags(found)
    frame = Frame(flags=heads(texts), plot=bool(drawn))
    written = labels(cell)
    width = _width(cell, [*texts, *(each for _, each in written)], drawn)
    parts = (
        _ground(frame, width),
        plot(falling(cell), frame) if drawn else None,
        joined(cell, frame),
        lines(found, frame),
        _numbers(cell.events, frame),
        shapes(cell, frame),
        [_text(each, frame.label(lane, each.line), "l") for lane, each in written],
        written_flags(texts),
    )
    said, title = _summary(cell, found), f"Timeline of row {place.number}"
    drawing = el("svg", parts, role="img", aria_label=said, **_size(width, frame.height))
    return el(
        "div",
        _gutter(frame),
        el("div", drawing, class_="box", role="region", tabindex=0, aria_label=title),
        class_="timeline",
        style=f"--shrink:{min(1.0, _PAPER / (width + GUTTER)):.3f}",
    )


def _size(width: float, height: float) -> dict[str, str]:
    return {
        "width": f"{width:.0f}",
        "height": f"{height:.0f}",
        "viewBox": f"0 0 {width:.0f} {height:.0f}",
    }


def _width(cell: Cell, texts: Sequence[Label], drawn: Sequence[Falling]) -> float:
    ends = [x_of(len(cell.events)), *(each.end for each in texts)]
    return max([*ends, plot_end(len(cell.events))] if drawn else ends) + 4


def _text(label: Label, y: float, class_: str) -> Markup:
    return el("text", label.text, x=label.x, y=y, class_=class_)


def _ground(frame: Frame, width: float) -> Markup:
    """Rules between the lanes."""
    tops = [frame.top(lane) for lane in Lane if name_of(lane)]
    return el("path", d="".join(f"M0 {top:g}H{width:g}" for top in tops), class_="rule")


def _numbers(events: Sequence[AnyEvent], frame: Frame) -> Iterator[Markup]:
    """The number of each event, and the seconds wherever they have changed."""
    before: str | None = None
    for at, event in enumerate(events):
        yield el("text", event.seq, x=x_of(at), y=frame.head + 11, class_="n")
        seconds = f"{event.at:,.0f} s"
        if seconds != before:
            yield el("text", seconds, x=x_of(at), y=frame.head + 25, class_="at")
        before = seconds


def _gutter(frame: Frame) -> Markup:
    """The names of the lanes."""
    names = [(frame.head + 11, "event", "q"), (frame.head + 25, "time", "q")]
    if frame.plot:
        names += [
            (frame.plot_top + 4, "100 % left", "q"),
            (frame.plot_top + PLOT / 2 + 4, "budgets", "lane"),
            (frame.plot_top + PLOT + 3, "0 %", "q"),
        ]
    names += [(frame.glyphs(lane) + 4, name_of(lane), "lane") for lane in Lane if name_of(lane)]
    made = join(el("text", name, x=GUTTER - 12, y=y, class_=kind) for y, name, kind in names)
    return el("svg", made, aria_hidden="true", class_="gutter", **_size(GUTTER, frame.height))


def _summary(cell: Cell, found: Sequence[Flag]) -> str:
    told = "; ".join(f"event {each.seq}: {each.text}" for each in found[:3])
    flagged = f" {told}." if told else ""
    return (
        f"{len(cell.events)} events in four lanes.{flagged} The table that follows says the same."
    )
