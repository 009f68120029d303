"""How a timeline is to be read."""

from __future__ import annotations

from pytest_tripwire.gate.html.glyphs import SHAPES, used
from pytest_tripwire.gate.html.markup import Markup, el

_WORDS = (
    "From left to right in the order in which it happened, one step for each event. The lines "
    "above fall with what is left of each budget. The heavy line is the interruption. Red is what "
    "should not have happened."
)


def legend() -> Markup:
    """Closed until somebody asks."""
    items = [el("li", _drawn(name), says) for name, (_, says) in SHAPES.items()]
    return el(
        "details",
        el("summary", "How to read a timeline"),
        el("div", el("p", _WORDS), el("ul", items), class_="body"),
        class_="legend",
    )


def _drawn(name: str) -> Markup:
    return el("svg", used(name, 9.0, 9.0), width=18, height=18, aria_hidden="true")
