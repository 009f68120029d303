"""How a store's tables are made, and become those of a later release."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.ledger import NewerSchemaError, StoreDamagedError, StoreLockedError, open_store
from pytest_tripwire.timeline import WriteEntry

pytest.importorskip("sqlalchemy")
from pytest_tripwire.ledger.sql.addresses import backend_of
from pytest_tripwire.ledger.sql.schema import VERSION, bring_up
from pytest_tripwire.ledger.sql.session import Session
from pytest_tripwire.ledger.sql.sessions import Sessions


@pytest.fixture
def ours(address: str, entry: Callable[..., WriteEntry]) -> str:
    """A store with one write in it."""
    with closing(open_store(address)) as store:
        store.begin(entry("1"), lambda _: None)
    return address


@pytest.fixture
def sessions(ours: str) -> Iterator[Sessions]:
    backend = backend_of(ours.replace("postgresql:", "postgresql+psycopg:"), 1.0)
    assert backend is not None
    with closing(Sessions(backend, 1.0)) as opened:
        yield opened


def to_next(session: Session) -> None:
    session.text("ALTER TABLE tripwire_writes ADD COLUMN colour TEXT DEFAULT 'blue' NOT NULL")


def to_the_one_after(session: Session) -> None:
    session.text("UPDATE tripwire_writes SET colour = 'red'")


STEPS = {VERSION: to_next, VERSION + 1: to_the_one_after}


def state(sessions: Sessions) -> Any:
    """The version of the schema, and the colours of its writes, if they have one."""
    import sqlalchemy as sa

    version = sa.text("SELECT version FROM tripwire_schema")
    colours = sa.text("SELECT * FROM tripwire_writes")
    rows = sessions.read(lambda session: session.rows(colours, {}))
    return sessions.read(lambda session: session.rows(version, {})[0][0]), [
        row[11:] for row in rows
    ]


def test_an_older_store_is_brought_up_step_by_step_and_keeps_what_it_has(
    sessions: Sessions, ours: str
) -> None:
    bring_up(sessions, 1.0, version=VERSION + 2, steps=STEPS)
    bring_up(sessions, 1.0, version=VERSION + 2, steps=STEPS)

    assert state(sessions) == (VERSION + 2, [("red",)])
    with pytest.raises(NewerSchemaError):
        open_store(ours)


def test_a_step_that_fails_leaves_the_store_as_it_was(sessions: Sessions, ours: str) -> None:
    def broken(_session: Session) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        bring_up(sessions, 1.0, version=VERSION + 2, steps={**STEPS, VERSION + 1: broken})

    assert state(sessions) == (VERSION, [()])
    with closing(open_store(ours)) as store:
        assert len(store.of_run("run")) == 1


def test_a_later_release_s_store_is_not_touched(folder: Path) -> None:
    path = folder / "runs.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as later:
        later.execute("UPDATE tripwire_schema SET version = 99")
        later.commit()
        # As it is when another program has copied it.
        later.execute("PRAGMA journal_mode=DELETE")
    before = path.read_bytes()

    with pytest.raises(NewerSchemaError, match=rf"runs\.db has schema version 99.*up to {VERSION}"):
        open_store(path)

    assert path.read_bytes() == before
    assert [each.name for each in folder.iterdir()] == ["runs.db"]


@pytest.mark.parametrize("wrong", ["DELETE FROM", "INSERT INTO", "UPDATE"])
def test_a_store_that_does_not_say_which_version_it_has(folder: Path, wrong: str) -> None:
    path = folder / "runs.db"
    open_store(path).close()
    rest = {"INSERT INTO": "VALUES (1)", "UPDATE": "SET version = -1"}.get(wrong, "")
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"{wrong} tripwire_schema {rest}")
        other.commit()

    with pytest.raises(StoreDamagedError, match="which version"):
        open_store(path)


def test_fields_of_a_later_release_are_left_alone(
    folder: Path, entry: Callable[..., WriteEntry]
) -> None:
    from pytest_tripwire.timeline import WriteStatus

    path = folder / "runs.db"
    with closing(open_store(path)) as store, closing(sqlite3.connect(path)) as later:
        store.begin(entry("1"), lambda _: None)
        later.execute("UPDATE tripwire_writes SET body = json_set(body, '$.colour', 'blue')")
        later.commit()

        store.settle("1", WriteStatus.CONFIRMED)

        assert store.entry("1") == entry("1", status=WriteStatus.CONFIRMED, seq=1)
        found = later.execute("SELECT json_extract(body, '$.colour') FROM tripwire_writes")
        assert found.fetchall() == [("blue",)]


def test_other_tables_of_a_server_s_database_are_no_hindrance(server: Any) -> None:
    url = server.new_schema()
    schema = url.rpartition("%3D")[2]
    server.sql(f"CREATE TABLE {schema}.customers (name TEXT)")

    with closing(open_store(url)) as store:
        assert store.of_run("run") == ()


def test_two_that_make_one_file_at_the_same_moment_wait_for_each_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of a hundred pairs of processes one is told so, at once: too few for a test that tries it.
    told: list[Any] = []
    rows = Session.rows

    def as_if_another_did_it(session: Session, statement: Any, values: Any) -> Any:
        if "journal_mode" in str(statement) and len(told) < 2:
            told.append(statement)
            raise StoreLockedError("database is locked")
        return rows(session, statement, values)

    monkeypatch.setattr(Session, "rows", as_if_another_did_it)
    open_store(folder / "runs.db").close()

    assert len(told) == 2
