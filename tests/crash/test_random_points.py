"""Workers that are killed at any line of the package, as often as a machine's time allows.

`CRASH_POINTS=20000 CRASH_SEED=7 pytest tests/crash/test_random_points.py` tries more, and others;
CI asks for 500.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .agent import LEASE_S
from .case import LONG, Case
from .evidence import check
from .stores import POSTGRESQL, SQLITE
from .watch import COUNT, Point

#: How many workers are killed on SQLite; a tenth of it on PostgreSQL, where each has to log in.
POINTS = int(os.environ.get("CRASH_POINTS", "40"))
SEED = os.environ.get("CRASH_SEED", "1")
#: Of stories, which xdist may share out.
CHUNKS = {SQLITE: 10, POSTGRESQL: 2}
MANNERS = ("prompt", "late", "lost_answer", "lost_request")
PLOTS = ("pays", "pays", "gives_up", "is_stopped")


class Lines:
    """How many lines of the package a life of each kind goes through, counted once."""

    def __init__(self, empty: Path, folder: Path, nursery: Any) -> None:
        self._empty = empty
        self._folder = folder
        self._nursery = nursery
        self._known: dict[tuple[Any, ...], int] = {}

    def of(self, life: dict[str, Any]) -> int:
        kind = tuple(life.values())
        if kind not in self._known:
            path = self._folder / f"{len(self._known)}.db"
            shutil.copy(self._empty, path)
            case = Case(
                f"count{len(self._known)}", f"sqlite:///{path}", self._folder, self._nursery.live
            )
            (end,) = case.crowd([case.life(point=COUNT, **life)])
            assert end.account is not None, end.error
            self._known[kind] = end.account.steps
        return self._known[kind]


@pytest.fixture(scope="session")
def lines(empty: Path, nursery: Any, tmp_path_factory: pytest.TempPathFactory) -> Lines:
    return Lines(empty, tmp_path_factory.mktemp("lines"), nursery)


def asked(rng: random.Random) -> dict[str, Any]:
    return {
        "manner": rng.choice(MANNERS),
        "plot": rng.choice(PLOTS),
        "in_tasks": rng.random() < 0.2,
        "orders": ("A", "B")[: rng.randint(1, 2)],
    }


def taken_up(case: Case, rng: random.Random) -> dict[str, Any]:
    """What an operator does now and then where there is a record: resume that run."""
    records = [each for each in case.records() if each.ended_as is None]
    if not records or rng.random() < 0.3:
        return {}
    chosen = rng.choice(records)
    return {"plot": "resumes", "resumes": (chosen.run_id, chosen.token_version)}


def killed_at_random(case: Case, rng: random.Random, lines: Lines) -> int:
    """Play one story; returns how many workers were killed in it."""
    life, now = asked(rng), 0.0
    most = lines.of(life)
    for number in range(rng.choice((1, 1, 2, 3))):
        case.live(
            point=Point(step=rng.randint(1, most)),
            starts_at=now,
            machine=rng.choice(("", "elsewhere")),
            look=rng.random() < 0.5,
            **life | (taken_up(case, rng) if number else {}),
        )
        # At once, just before and just after a lease has ended, and long after.
        now += rng.choice((1.0, LEASE_S - 1, LEASE_S, LEASE_S + 1, LONG))
    # One that is delivered too early may find what is under way; the last one finds it over.
    case.live(starts_at=now + LONG, look=rng.random() < 0.5, **{**life, "plot": "pays"})
    return sum(each.end.state == "killed" for each in case.lived)


@pytest.mark.parametrize(
    ("new_case", "chunk", "wanted"),
    [(SQLITE, each, max(1, POINTS // CHUNKS[SQLITE])) for each in range(CHUNKS[SQLITE])]
    + [
        (POSTGRESQL, each, max(1, POINTS // 10 // CHUNKS[POSTGRESQL]))
        for each in range(CHUNKS[POSTGRESQL])
    ],
    indirect=["new_case"],
)
def test_killed_at_any_line(
    new_case: Callable[..., Case], chunk: int, wanted: int, lines: Lines
) -> None:
    rng, killed = random.Random(f"{SEED} {chunk}"), 0  # noqa: S311 - to be had again
    while killed < wanted:
        case = new_case(fresh=rng.random() < 0.1)
        killed += killed_at_random(case, rng, lines)
        check(case, again=f"CRASH_POINTS={POINTS} CRASH_SEED={SEED}, and this very test")
