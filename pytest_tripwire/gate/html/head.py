"""The top of the page: the gate's word, how many of each state, and what else is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.gate.html.markup import Markup, el, named
from pytest_tripwire.gate.html.places import Place, worst_first
from pytest_tripwire.gate.html.words import class_of, told
from pytest_tripwire.gate.render import word
from pytest_tripwire.gate.standing import Standing
from pytest_tripwire.gate.verdict import Verdict

_COLLECTED = "counted: the agents that were collected, as the project declares none"


def head(verdict: Verdict, places: Sequence[Place]) -> Markup:
    """The banner."""
    said, _, counts = word(verdict).partition(": ")
    state = "passed" if verdict.passed else "failed"
    return el(
        "header",
        el("h1", el("span", said, class_="said"), ": ", el("span", counts, class_="counted")),
        _counts(verdict, places),
        _listed("Problems", verdict.problems, "problems"),
        _listed("Notes", tuple(_notes(verdict)), "notes"),
        class_=state,
    )


def _counts(verdict: Verdict, places: Sequence[Place]) -> Markup | None:
    """How many rows there are of each state, each linked to the first of them."""
    if not verdict.counts:
        return None
    first = {place.row.state: place for place in reversed(tuple(worst_first(tuple(places))))}
    items = [
        el(
            "li",
            el(
                "a",
                told(state, verdict.counts[state]),
                href=f"#{first[state].anchor}",
                class_=class_of(state),
            ),
        )
        for state in Standing
        if state in verdict.counts
    ]
    return el("ul", items, class_="counts", aria_label="How many cells there are of each state")


def _notes(verdict: Verdict) -> Iterator[str]:
    yield from verdict.notes
    if not verdict.agents_declared:
        yield _COLLECTED


def _listed(title: str, texts: Sequence[str], name: str) -> Markup | None:
    if not texts:
        return None
    items = [el("li", named(text)) for text in texts]
    heading = el("h2", title, id=f"{name}-title")
    listed = el("ul", items)
    return el("section", heading, listed, class_=name, aria_labelledby=f"{name}-title")
