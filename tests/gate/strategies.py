"""Arbitrary verdicts, with texts of the kind that hurts."""

from __future__ import annotations

import datetime as dt
from typing import Any

from hypothesis import strategies as st

from pytest_tripwire.gate import Entry, Evidence, Judged, NotApplicable, Planned
from pytest_tripwire.oracle import CHECKS, Broken, Cell, State
from pytest_tripwire.timeline import Delivery, Dispatch, Effect, ModelRequest, Mutation, Reason

from .conftest import TODAY

#: Pieces that mean something to one of the formats.
HURTS = (
    "</td></tr></table><script>alert(1)</script>",
    "</style>",
    "<!--",
    "]]>",
    "&amp;",
    "&#10;",
    "'\"",
    "|",
    "| --- |",
    "`",
    "](javascript:alert(1))",
    "[x]",
    "@everyone",
    "#1",
    "http://127.0.0.1/",
    "\n",
    "\r\n",
    "%0A::error::",
    "::error title=x::",
    "::set-output name=x::",
    "%25",
    "\x00",
    "\x1b[31m",
    "\u202e",
    "\u2028",
    "\ud7ff",
    "$(x)",
    "${{ secrets.X }}",
    '"""',
    "]]\n[[known_failing]]",
)
texts = st.lists(
    st.sampled_from(HURTS) | st.text(st.characters(codec="utf-8"), max_size=8), max_size=3
).map("".join)

AGENTS, CASES = ("shop", "desk"), ("lost-write", "deadline")
names = st.sampled_from(AGENTS) | texts.filter(bool)

events = st.lists(
    st.one_of(
        st.builds(
            Dispatch,
            tool=texts,
            role=texts,
            effect=st.sampled_from(Effect),
            resource=texts,
            seq=st.integers(1, 9),
        ),
        st.builds(ModelRequest, conversation=texts, turn=st.integers(0, 9), says=texts),
        st.builds(Delivery, dispatch=st.integers(1, 9), told=texts, note=texts),
        st.builds(Mutation, dispatch=st.integers(1, 9), resource=texts, version=st.just(1)),
    ),
    max_size=4,
).map(tuple)


def _cell(fields: dict[str, Any]) -> Cell:
    """A cell is contained exactly if nothing is broken."""
    bad = fields["state"] in (State.ESCAPED, State.INCONCLUSIVE)
    return Cell(**{**fields, "broken": fields["broken"] if bad else ()})


cells = st.fixed_dictionaries(
    {
        "agent": names,
        "case": st.sampled_from(CASES) | texts.filter(bool),
        "state": st.sampled_from(State),
        "protection": st.sampled_from(["harness", "own"]) | texts,
        "ending": texts,
        "reason": st.none() | st.sampled_from(Reason),
        "broken": st.lists(
            st.builds(Broken, check=st.sampled_from(CHECKS) | texts, message=texts), max_size=3
        ).map(tuple),
        "lesson": texts,
        "declared": st.booleans(),
        "events": events,
    }
).map(_cell)

entries = st.builds(
    Entry,
    agent=st.sampled_from(AGENTS),
    case=st.sampled_from(CASES),
    check=st.sampled_from(CHECKS),
    reason=texts,
    issue=texts,
    expires=st.sampled_from([TODAY + dt.timedelta(days=n) for n in (-1, 0, 5, 60)]),
)
baselines = st.none() | st.lists(
    entries, max_size=4, unique_by=lambda each: (each.key, each.check)
).map(tuple)


def _evidence(found: list[Cell], more: dict[str, Any]) -> Evidence:
    planned = tuple(
        Planned(agent=cell.agent, case=cell.case, test=f"t{n}") for n, cell in enumerate(found)
    )
    judged = tuple(
        Judged(cell=cell, test=f"t{n}") for n, cell in enumerate(found) if n not in more["lost"]
    )
    rest = {name: value for name, value in more.items() if name != "lost"}
    return Evidence(
        version="1", catalogue_version=1, catalogue=CASES, planned=planned, judged=judged, **rest
    )


evidences = st.builds(
    _evidence,
    st.lists(cells, max_size=4),
    st.fixed_dictionaries(
        {
            "declared": st.sampled_from([(), AGENTS]),
            "protection": st.sampled_from([None, "harness"]),
            "rounds": st.sampled_from([1, 2]),
            "lost": st.sets(st.integers(0, 3), max_size=1),
            "rerun": st.sampled_from([(), ("t0",)]),
            "not_applicable": st.sampled_from(
                [(), (NotApplicable(agent="shop", case="deadline"),)]
            ),
            "problems": st.lists(texts, max_size=1).map(tuple),
        }
    ),
)
