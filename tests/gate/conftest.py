"""What the tests of the gate share: cells by hand and by Hypothesis."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_tripwire.gate import Entry, Evidence, Judged, NotApplicable, Planned, Verdict, decide
from pytest_tripwire.oracle import Cell, State

TODAY = dt.date(2031, 5, 20)


def evidence(
    cells: Sequence[Cell] = (),
    *,
    declared: Sequence[str] = (),
    collected: Sequence[str] = (),
    catalogue: Sequence[str] = ("x", "y"),
    protection: str | None = "harness",
    nameless: int = 0,
    bare: Sequence[tuple[str, str]] = (),
    **more: Any,
) -> Evidence:
    """What a run knows that was about these cells, one test for each."""
    planned = [Planned(agent=each, case="", test=f"t::{each}") for each in collected]
    planned += [Planned(agent="", case="", test=f"nameless {n}") for n in range(nameless)]
    base: dict[str, Any] = {
        "version": "1",
        "catalogue_version": 1,
        "planned": tuple(planned),
        "judged": tuple(Judged(cell=cell) for cell in cells),
        "not_applicable": tuple(NotApplicable(agent=a, case=c) for a, c in bare),
    }
    return Evidence(
        catalogue=tuple(catalogue),
        declared=tuple(declared),
        protection=protection,
        **{**base, **more},
    )


def decided_of(
    cells: Sequence[Cell] = (), *, baseline: Sequence[Entry] | None = None, **more: Any
) -> Verdict:
    """The verdict of that."""
    return decide(evidence(cells, **more), today=TODAY, baseline=baseline)


@pytest.fixture
def cell() -> Callable[..., Cell]:
    """A contained cell of agent `a` on case `x`; keywords change it."""

    def make(**fields: Any) -> Cell:
        state = State(fields.pop("state", "contained"))
        base: dict[str, Any] = {"agent": "a", "case": "x", "protection": "harness"}
        return Cell(state=state, **{**base, **fields})

    return make
