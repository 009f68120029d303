"""What the tests of the gate share: cells by hand and by Hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.oracle import Cell, State


@pytest.fixture
def cell() -> Callable[..., Cell]:
    """A contained cell of agent `a` on case `x`; keywords change it."""

    def make(**fields: Any) -> Cell:
        state = State(fields.pop("state", "contained"))
        base: dict[str, Any] = {"agent": "a", "case": "x", "protection": "harness"}
        return Cell(state=state, **{**base, **fields})

    return make
