"""The timeline as a table: for who hears the page, for who copies from it, and to link to."""

from __future__ import annotations

from pytest_tripwire.gate.html.flaws import flaws
from pytest_tripwire.gate.html.markup import Markup, el, named
from pytest_tripwire.gate.html.places import Place
from pytest_tripwire.oracle.cell import Cell
from pytest_tripwire.oracle.text import Line, timeline_lines

_HEAD = ("event", "time", "who", "what happened")


def events_table(place: Place, cell: Cell) -> Markup:
    """One line for each event."""
    wrong = flaws(cell)
    known: set[int] = set()
    lines = [
        _line(place, cell, line, wrong.get(line.seq, ""), known)
        for line in timeline_lines(cell.events)
    ]
    title = f"Events of row {place.number}"
    table = el(
        "table",
        el("caption", f"{len(lines)} events"),
        el("thead", el("tr", [el("th", name, scope="col") for name in _HEAD])),
        el("tbody", lines),
    )
    return el("div", table, class_="box events", role="region", tabindex=0, aria_label=title)


def _line(place: Place, cell: Cell, line: Line, flaw: str, known: set[int]) -> Markup:
    """`known` are the numbers that have their anchor already: no two things share one."""
    anchor = place.event(line.seq) if line.seq not in known else None
    known.add(line.seq)
    is_stop = bool(line.seq) and line.seq == cell.stop_seq
    words = [el("strong", f" ← {word}") for word in (flaw, "interrupted here" * is_stop) if word]
    return el(
        "tr",
        el("th", line.seq, scope="row"),
        el("td", f"{line.at:,.0f} s"),
        el("td", line.who),
        el("td", named(line.what), words),
        id=anchor,
        class_="bad" if flaw else "stop" if is_stop else None,
    )
