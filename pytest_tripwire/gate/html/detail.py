"""One row in full."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_tripwire.gate.html.budget_table import budget_table
from pytest_tripwire.gate.html.events import events_table
from pytest_tripwire.gate.html.facts import facts
from pytest_tripwire.gate.html.legend import legend
from pytest_tripwire.gate.html.markup import Markup, el, named
from pytest_tripwire.gate.html.places import Place
from pytest_tripwire.gate.html.timeline import timeline
from pytest_tripwire.gate.html.words import badge
from pytest_tripwire.gate.text import short


def details(places: Iterable[Place]) -> Markup | None:
    """All rows, in the order in which they are given; None if there is none."""
    made = [_detail(place) for place in places]
    if not made:
        return None
    return el(
        "section",
        el("h2", "Cells, worst first", id="details-title"),
        legend(),
        made,
        class_="details",
        aria_labelledby="details-title",
    )


def _detail(place: Place) -> Markup:
    row = place.row
    summary = el(
        "summary",
        badge(row.state),
        el("h3", named(short(row.agent)), el("span", " on ", class_="on"), named(short(row.case))),
        el("span", named(short(row.detail)), class_="why"),
        id=place.anchor,
    )
    return el("details", summary, el("div", _body(place), class_="body"), open=not row.state.passes)


def _body(place: Place) -> Iterable[Markup | None]:
    cell = place.row.cell
    yield el("div", facts(place), budget_table(cell) if cell else None, class_="sides")
    if cell is not None and cell.events:
        yield timeline(place, cell)
        yield events_table(place, cell)
