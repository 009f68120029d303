"""What is known of a row, besides what happened in it."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from pytest_tripwire.gate.baseline import Entry
from pytest_tripwire.gate.html.markup import Child, Markup, el, join, named
from pytest_tripwire.gate.html.places import Place
from pytest_tripwire.gate.text import flat, short
from pytest_tripwire.oracle.cell import Cell

Fact = tuple[str, Child]


def facts(place: Place) -> Markup:
    """Names and values, what matters most first."""
    found = [fact for fact in _facts(place) if fact[1]]
    return el("dl", [el("div", el("dt", name), el("dd", value)) for name, value in found])


def _facts(place: Place) -> Iterator[Fact]:
    row = place.row
    if row.cell is not None:
        yield from _judged(place, row.cell)
    if row.detail not in _told(row.cell):
        yield "Detail", named(row.detail)
    if row.entry is not None:
        yield from _excuse(row.entry)
    for name, text in (("Agent", row.agent), ("Case", row.case)):
        # The summary has it, unless it was cut.
        yield name, named(text) if short(text) != flat(text) else None
    yield "Protection", named(row.protection) if flat(row.protection) else None
    yield "Judgements", _judgements(place)
    if row.cell is not None and row.cell.seed:
        yield "Seed", str(row.cell.seed)


def _judged(place: Place, cell: Cell) -> Iterator[Fact]:
    yield (
        "What broke",
        _listed(
            join((el("b", named(each.check)), ": ", named(each.message), _at(place, each.seq)))
            for each in cell.broken
        ),
    )
    yield "Where to look", named(cell.lesson) if flat(cell.lesson) else None
    yield (
        "Model use",
        _listed(join((named(each.line), _at(place, each.seq))) for each in cell.diagnosis),
    )
    yield "Ended", join((named(cell.ending), _at(place, cell.stop_seq))) if cell.ending else None


def _told(cell: Cell | None) -> set[str]:
    """What the other facts say already."""
    if cell is None:
        return {""}
    return {"", cell.ending, *(f"{each.check}: {each.message}" for each in cell.broken)}


def _at(place: Place, seq: int) -> Markup | None:
    link = place.link(seq)
    return None if link is None else join((" (", link, ")"))


def _judgements(place: Place) -> str:
    row = place.row
    if not row.runs:
        return "none: no test brought one"
    shown = "" if row.runs == 1 else ", of which this is the worst"
    return f"{row.runs}{shown}{'; a test failed and was run again' if row.rerun else ''}"


def _excuse(entry: Entry) -> Iterator[Fact]:
    yield "Known failing", join((el("b", named(entry.check)), ": ", named(entry.reason)))
    yield "Issue", _issue(entry.issue)
    yield "Excused until", el("time", entry.expires.isoformat())


def _issue(issue: str) -> Markup:
    """An address that a browser may follow is a link; anything else is only text."""
    text = flat(issue)
    if not is_address(text):
        return named(issue)
    return el("a", named(issue), href=text, rel="noopener noreferrer nofollow")


def is_address(text: str) -> bool:
    """Whether this is an address of the web, in which case it can run nothing."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc) and " " not in text


def _listed(items: Iterator[Markup]) -> Markup | None:
    found = [el("li", item) for item in items]
    return el("ul", found) if found else None
