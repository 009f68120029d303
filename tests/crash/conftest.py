"""Workers to be killed, and stores that outlive them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest

from pytest_tripwire.ledger import open_store

from .agent import Life
from .case import Case
from .stores import POSTGRESQL, SQLITE
from .worker import End, Order

ROOT = Path(__file__).parents[2]


class Nursery:
    """The process that others are forked from."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.worker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def live(self, lives: Sequence[Life]) -> list[End]:
        """Live these at once; returns how each has ended, or that it has stopped."""
        return self._done(Order(lives=tuple(lives)))

    def wake(self, end: End) -> End:
        """Let one that has stopped go on."""
        return self._done(Order(wake=end.pid))[0]

    def _done(self, order: Order) -> list[End]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the process that workers are forked from is gone; see its standard error"
        return msgspec.json.decode(answer, type=list[End])

    def close(self) -> None:
        self._process.communicate(timeout=30)


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    pytest.importorskip("sqlalchemy")
    if not hasattr(os, "fork"):
        pytest.skip("workers are forked here, and this system cannot")
    made = Nursery()
    yield made
    made.close()


@pytest.fixture(scope="session")
def empty(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with tables and nothing in them: to make them takes longer than to copy it."""
    path = tmp_path_factory.mktemp("crash") / "empty.db"
    open_store(path).close()
    return path


@pytest.fixture
def new_case(request: pytest.FixtureRequest, folder: Path, nursery: Nursery) -> Callable[..., Case]:
    """Makes cases: on SQLite each in a file of its own, on PostgreSQL each for a tenant of its own.

    A `fresh` one has no tables yet. A test asks for PostgreSQL by `stores.py`.
    """
    url, cases = "", []
    if getattr(request, "param", SQLITE) == POSTGRESQL:
        url = request.getfixturevalue("server").new_schema()
    empty = request.getfixturevalue("empty")

    def made(*, fresh: bool = False) -> Case:
        name = f"case{len(cases) + 1}"
        path = folder / f"{name}.db"
        if not fresh:
            shutil.copy(empty, path)
        cases.append(Case(name, url or f"sqlite:///{path}", folder, nursery.live))
        return cases[-1]

    yield made
    for each in cases:
        each.close()
