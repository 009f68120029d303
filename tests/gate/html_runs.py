"""Verdicts of real runs, for the tests of the page."""

from __future__ import annotations

import datetime as dt
import functools

import msgspec

from pytest_tripwire import Harness
from pytest_tripwire.gate import Entry, Verdict
from pytest_tripwire.harness.options import Options, Protection
from pytest_tripwire.oracle import Cell

from ..harness.conftest import Agents  # noqa: TID252 - the tests are no package to import from
from .conftest import decided_of

#: Two that are stopped, one that ends well after more than a hundred events.
CASES = ("lost-write", "cost-budget", "long-investigation")


@functools.cache
def cell(case: str, protection: str = "harness") -> Cell:
    """What the plain loop comes to."""
    options = Options(protection=Protection(protection))
    return Harness(case, Agents.loop, agent_id="shop/loop", options=options).run().cell


@functools.cache
def failing() -> Verdict:
    """Two agents: one contained in all, one without any protection, and a look-alike."""
    good = [cell(case) for case in CASES]
    bare = [_by(cell(case, "own"), "shop/bare") for case in CASES]
    other = msgspec.structs.replace(good[0], case="lost-write/paid-once")
    entry = Entry(
        agent="shop/bare",
        case="cost-budget",
        check="cost-budget",
        reason="no limit yet",
        issue="https://example.org/issues/12",
        expires=dt.date(2031, 7, 1),
    )
    return decided_of(
        [*good, *bare, other],
        declared=("shop/loop", "shop/bare", "shop/idle"),
        catalogue=CASES,
        baseline=[entry],
    )


@functools.cache
def many(ran: int = 20) -> Verdict:
    """Twenty agents by eight cases, of runs of every length; of the others nothing was run."""
    cases = [*CASES, *(f"{case}-{n}" for n in (2, 3) for case in CASES)][:8]
    cells = [
        msgspec.structs.replace(cell(CASES[at % 3]), case=case, agent=f"team/agent-{n:02}")
        for n in range(ran)
        for at, case in enumerate(cases)
    ]
    agents = [f"team/agent-{n:02}" for n in range(20)]
    return decided_of(cells, declared=agents, catalogue=cases)


def _by(judged: Cell, agent: str) -> Cell:
    return msgspec.structs.replace(judged, agent=agent)
