"""The page."""

from __future__ import annotations

from importlib.resources import files

from pytest_tripwire.gate.html.detail import details
from pytest_tripwire.gate.html.glyphs import definitions
from pytest_tripwire.gate.html.grid import beside, grid
from pytest_tripwire.gate.html.head import head
from pytest_tripwire.gate.html.markup import Markup, el
from pytest_tripwire.gate.html.places import Place, places, worst_first
from pytest_tripwire.gate.render import word
from pytest_tripwire.gate.verdict import Verdict

#: Nothing may be fetched, and nothing may run.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLES = ("page.css", "states.css", "timeline.css")


def page(verdict: Verdict) -> str:
    """A verdict as one HTML file, to be written in UTF-8. It holds no script and asks for nothing
    from anywhere, and shows names, references and classes only, as the timelines do.

    Args:
        verdict: what the gate has decided.
    """
    found = places(verdict)
    order = tuple(worst_first(found))
    body = el(
        "body",
        _skips(order),
        definitions(),
        head(verdict, found),
        el("main", grid(found), beside(found), details(order), id="main", tabindex=-1),
    )
    return f"<!doctype html>\n{el('html', _head(verdict), body, lang='en')}\n"


def _head(verdict: Verdict) -> Markup:
    style = "".join(files(__package__).joinpath(name).read_text("utf-8") for name in _STYLES)
    return el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("meta", name="color-scheme", content="light dark"),
        el("meta", name="referrer", content="no-referrer"),
        el("title", word(verdict)),
        el("style", Markup(style)),
    )


def _skips(order: tuple[Place, ...]) -> Markup:
    """Links for who uses the keyboard, shown when they are reached."""
    failing = [place for place in order if not place.row.state.passes]
    worst = (
        el("a", "To the first cell that fails", href=f"#{failing[0].anchor}") if failing else None
    )
    content = el("a", "To the table of cells", href="#main")
    return el("nav", content, worst, class_="skip", aria_label="Skip")
