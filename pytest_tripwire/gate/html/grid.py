"""Agents by cases, and under it what does not belong to the count."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.gate.html.markup import Markup, el, named
from pytest_tripwire.gate.html.places import Place
from pytest_tripwire.gate.html.words import class_of, told
from pytest_tripwire.gate.text import short

_BESIDE = (
    "Look-alikes, cases of your own and agents that are not declared. What fails here fails the "
    "gate as well."
)


def grid(places: Sequence[Place]) -> Markup | None:
    """The table of what is counted; None if nothing is."""
    counted = [place for place in places if place.row.counted]
    if not counted:
        return None
    agents = dict.fromkeys(place.row.agent for place in counted)
    cases = dict.fromkeys(place.row.case for place in counted)
    at: dict[tuple[str, str], list[Place]] = {}
    for place in counted:
        at.setdefault((place.row.agent, place.row.case), []).append(place)
    names = [el("th", named(short(case)), scope="col") for case in cases]
    lines = [
        el(
            "tr",
            el("th", named(short(agent)), scope="row"),
            [el("td", [_cell(each) for each in at.get((agent, case), ())]) for case in cases],
        )
        for agent in agents
    ]
    table = el(
        "table",
        el("thead", el("tr", el("th", "agent", scope="col"), names)),
        el("tbody", lines),
        aria_labelledby="grid-title",
    )
    return el(
        "section",
        el("h2", "Agents and cases", id="grid-title"),
        el(
            "div", table, class_="box grid", role="region", tabindex=0, aria_labelledby="grid-title"
        ),
        aria_labelledby="grid-title",
    )


def beside(places: Sequence[Place]) -> Markup | None:
    """What was judged and is not counted; None if nothing was."""
    others = [place for place in places if not place.row.counted]
    if not others:
        return None
    counted = [place.row for place in places if place.row.counted]
    agents, cases = {row.agent for row in counted}, {row.case for row in counted}
    head = [el("th", name, scope="col") for name in ("agent", "case", "why", "state")]
    lines = [
        el(
            "tr",
            el("th", named(short(place.row.agent)), scope="row"),
            el("td", named(short(place.row.case))),
            el("td", _why(place, agents, cases)),
            el("td", _cell(place)),
        )
        for place in others
    ]
    table = el(
        "table",
        el("thead", el("tr", head)),
        el("tbody", lines),
        aria_labelledby="beside-title",
    )
    return el(
        "section",
        el("h2", "Beside the count", id="beside-title"),
        el("p", _BESIDE),
        el("div", table, class_="box", role="region", tabindex=0, aria_labelledby="beside-title"),
        aria_labelledby="beside-title",
    )


def _why(place: Place, agents: set[str], cases: set[str]) -> str:
    """Why a row is not counted."""
    row = place.row
    if row.agent not in agents:
        return "the agent is not declared"
    base, _, name = row.case.partition("/")
    return "look-alike: good work" if name and base in cases else "no standard case"


def _cell(place: Place) -> Markup:
    row = place.row
    return el("a", told(row.state), href=f"#{place.anchor}", class_=class_of(row.state))
