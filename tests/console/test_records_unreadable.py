"""One thing that nobody can read hides nothing else, and the command says that it is missing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_tripwire.ledger import open_store

from .records_story import Operator, entry, keep, record

pytest.importorskip("sqlalchemy")
LISTS = [("list",), ("list", "--json"), ("stats",), ("stats", "--json")]


class Desk(Operator):
    """The command over a file in which runs were interrupted; each has left a write behind."""

    def __init__(self, file: Path) -> None:
        self._file = file
        super().__init__(open_store(file))
        for name in ("run-1", "run-2", "run-3"):
            made = entry(f"{name}-key", name)
            keep(self.ledger, record(name, writes=(made,)), made)

    def damage(self, table: str, run_id: str = "run-2") -> None:
        with closing(sqlite3.connect(self._file)) as other, other:
            words = f"UPDATE tripwire_{table} SET body = 'null' WHERE run_id = ?"  # noqa: S608
            assert other.execute(words, (run_id,)).rowcount == 1


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path / "runs.db")
    with closing(made.ledger):
        yield made


@pytest.mark.parametrize("table", ["records", "writes", "happenings"])
def test_the_others_are_listed_and_the_one_is_told(desk: Desk, table: str) -> None:
    desk.damage(table)

    assert desk("list", "--json") == 0
    shown = {json.loads(line)["run_id"] for line in desk.lines}
    assert shown >= {"run-1", "run-3"}
    assert ("run-2" in shown) is (table == "happenings")  # which are no part of a record
    head, told = desk.err.splitlines()
    assert head.endswith("1 of what this store holds cannot be read, and was left out:")
    assert "run-2: what the store holds is no " in told


def test_the_others_are_counted_and_the_one_is_told(desk: Desk) -> None:
    desk.damage("happenings")

    assert desk("stats") == 0
    assert desk.lines[-1] == "2 in all"
    assert "run-2" in desk.err


@pytest.mark.parametrize("table", ["records", "writes"])
def test_whoever_asks_for_that_very_one_is_refused(desk: Desk, table: str) -> None:
    desk.damage(table)

    assert desk("show", "run-2") == 1
    assert "can read" in desk.err
    for argv in (("show", "run-1"), ("close", "run-3", "--operator", "ada")):
        assert desk(*argv) == 0, desk.err


def test_what_is_missing_is_named_up_to_ten(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "runs.db")
    with closing(desk.ledger):
        for number in range(12):
            keep(desk.ledger, record(f"more-{number}"))
            desk.damage("records", f"more-{number}")

        assert desk("list") == 0
    lines = desk.err.splitlines()
    assert "12 of what this store holds" in lines[0]
    assert lines[-1].endswith("and 2 more")
    assert len(lines) == 12


@pytest.mark.parametrize("argv", LISTS)
def test_nothing_is_told_of_a_store_that_is_whole(desk: Desk, argv: tuple[str, ...]) -> None:
    assert desk(*argv) == 0
    assert desk.err == ""
