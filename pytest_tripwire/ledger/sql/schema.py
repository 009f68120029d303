"""Brings a database to the tables that this release works with, or says why it does not."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.schema import CreateIndex, CreateTable

from pytest_tripwire.ledger.errors import (
    NewerSchemaError,
    StoreDamagedError,
    StoreLockedError,
    StoreReadOnlyError,
)
from pytest_tripwire.ledger.sql.compiled import Statement
from pytest_tripwire.ledger.sql.engine import SCHEMA_LOCK, Backend
from pytest_tripwire.ledger.sql.session import Session
from pytest_tripwire.ledger.sql.sessions import Sessions
from pytest_tripwire.ledger.sql.tables import METADATA, SCHEMA

#: The version that tables.py describes.
VERSION = 1

Step: TypeAlias = Callable[[Session], None]

#: How a schema of a version becomes one of the next. It is run in one transaction with all others.
STEPS: Mapping[int, Step] = {}

_VERSION_OF = sa.select(SCHEMA.c.version)
_SET_FIRST = sa.insert(SCHEMA).values(version=sa.bindparam("version"))
_SET = sa.update(SCHEMA).values(version=sa.bindparam("new"))
_TABLES = {
    "sqlite": sa.text("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"),
    "postgresql": sa.text(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    ),
}
_LOG = sa.text("PRAGMA journal_mode=WAL")
_WAIT_S = 0.01


def _making(table: sa.Table) -> Iterator[Statement]:
    """A table, and what finds its rows."""
    yield CreateTable(table)
    for index in sorted(table.indexes, key=lambda each: str(each.name)):
        yield CreateIndex(index)


_MAKING = tuple(itertools.chain.from_iterable(map(_making, METADATA.sorted_tables)))


def bring_up(
    sessions: Sessions,
    lock_timeout_s: float,
    *,
    version: int = VERSION,
    steps: Mapping[int, Step] = STEPS,
) -> None:
    """Make the tables, or migrate older ones, in one transaction; several processes may do so at
    once. A database that is not ours, or is a later release's, is not touched.

    Raises:
        NewerSchemaError: it is a later release's.
        StoreDamagedError: it is another application's, or no database.
        StoreError: it cannot be read or, where it has to be, not written.
    """
    place = sessions.backend
    found = sessions.read(lambda session: _found(session, place, version))
    if found != version:
        sessions.write(lambda session: _brought_up(session, place, version, steps), (SCHEMA_LOCK,))
    if place.name == "sqlite":
        _keep_a_log(sessions, lock_timeout_s)


def _brought_up(session: Session, place: Backend, version: int, steps: Mapping[int, Step]) -> None:
    # Again: another process may have been there between.
    found = _found(session, place, version)
    if found is None:
        _create(session, version)
        return
    for each in range(found, version):
        steps[each](session)
    session.run(_SET, {"new": version})


def _create(session: Session, version: int) -> None:
    for statement in _MAKING:
        session.run(statement, {})
    session.run(_SET_FIRST, {"version": version})


def _found(session: Session, place: Backend, version: int) -> int | None:
    names = {name for (name,) in session.rows(_TABLES[place.name], {})}
    if SCHEMA.name not in names:
        _refuse_others(names, place)
        return None
    rows = session.rows(_VERSION_OF, {})
    if len(rows) != 1 or not isinstance(rows[0][0], int) or rows[0][0] < 0:
        raise StoreDamagedError(
            f"the store {place.failures.where} does not say which version it has. Restore it from "
            "a backup. It was not touched."
        )
    found: int = rows[0][0]
    if found > version:
        raise NewerSchemaError(
            f"the store {place.failures.where} has schema version {found}, and this release knows "
            f"up to {version}: a later release has made it. Use that release, or another store. It "
            "was not touched."
        )
    return found


def _refuse_others(names: set[str], place: Backend) -> None:
    """A server's database may hold other tables; a file that does is not ours to change."""
    if place.name == "sqlite" and names:
        raise StoreDamagedError(
            f"the store {place.failures.where} is another application's database (it has the table "
            f"{min(names)!r}). Name a file of its own. It was not touched."
        )


def _keep_a_log(sessions: Sessions, lock_timeout_s: float) -> None:
    """Readers do not wait for a writer then, and a commit costs one wait for the disk, not three.

    SQLite does not wait by itself for others that do the same.
    """
    until = time.monotonic() + lock_timeout_s
    while True:
        try:
            # To its end: a statement that has more to say keeps all others out.
            sessions.read(lambda session: session.rows(_LOG, {}))
        except StoreReadOnlyError:
            return
        except StoreLockedError:
            if time.monotonic() > until:
                raise
            time.sleep(_WAIT_S)
        else:
            return
