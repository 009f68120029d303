"""Plays a case to two processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .stand import Nursery, Plan, Played, Stand

PLAN = frozenset(Plan.__struct_fields__)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    pytest.importorskip("sqlalchemy")
    if not hasattr(os, "fork"):
        pytest.skip("the agent's processes are forked here, and this system cannot")
    made = Nursery()
    yield made
    made.close()


@pytest.fixture
def play(folder: Path, nursery: Nursery) -> Callable[..., Played]:
    """Plays a case; what a `Plan` has goes to the plan, the rest to the harness."""

    def played(case_id: str, **given: Any) -> Played:
        plan = Plan(**{name: value for name, value in given.items() if name in PLAN})
        options = {name: value for name, value in given.items() if name not in PLAN}
        return Stand(case_id, plan, folder, nursery).play(**options)

    return played
