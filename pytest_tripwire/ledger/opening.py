"""From the words that name a store to the store."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_tripwire.ledger.errors import StoreError
from pytest_tripwire.ledger.memory import MemoryLedger
from pytest_tripwire.ledger.store import Store

if TYPE_CHECKING:
    from pytest_tripwire.ledger.sql.engine import Backend

_SQLITE = {"sqlite", "sqlite+pysqlite"}
_POSTGRES = {"postgresql", "postgresql+psycopg", "postgres"}
_KNOWN = (
    "There are sqlite:///runs.db (sqlite:////var/lib/runs.db for an absolute path), "
    "postgresql://user@host/database, memory:, and a pathlib.Path for an SQLite file"
)


def open_store(
    where: str | os.PathLike[str] | Store,
    *,
    owner: str | None = None,
    now: Callable[[], float] = time.time,
    lock_timeout_s: float = 5.0,
) -> Store:
    """Open the store that is named, or take the one that is given.

    Args:
        where: `sqlite:///runs.db`, `postgresql://user:password@host/database`, `memory:`, the path
            of an SQLite file, or a store, which is returned as it is. A file is made if there is
            none; a server's database has to be there.
        owner: names this process in entries; by default host, process and a random word. Give no
            two processes one name, not even one after the other: each takes what it finds of that
            name for its own, and never for lost.
        now: seconds since the epoch of Unix, for what an operator is shown.
        lock_timeout_s: how long to wait for others that write to it.

    Raises:
        ValueError: there is no such kind of store.
        StoreError: it cannot be opened, is damaged, or is a later release's; or the packages that
            it needs are not installed.
    """
    if isinstance(where, os.PathLike):
        return _opened(_file(Path(where), lock_timeout_s), owner, now, lock_timeout_s)
    if not isinstance(where, str):
        return where
    if where == "memory:":
        return MemoryLedger(now)
    return _opened(_named(where, lock_timeout_s), owner, now, lock_timeout_s)


def _opened(
    backend: Backend, owner: str | None, now: Callable[[], float], lock_timeout_s: float
) -> Store:
    from pytest_tripwire.ledger.sql.store import SqlStore

    return SqlStore(backend, owner=owner, now=now, lock_timeout_s=lock_timeout_s)


def _named(where: str, lock_timeout_s: float) -> Backend:
    kind, colon, rest = where.partition("://")
    if colon and kind in _SQLITE:
        _need("sqlalchemy", "store")
        return _by_address(f"sqlite://{rest}", lock_timeout_s)
    if colon and kind in _POSTGRES:
        _need("sqlalchemy", "store")
        _need("psycopg", "postgres")
        return _by_address(f"postgresql+psycopg://{rest}", lock_timeout_s)
    # What follows the kind may hold a password.
    named = f"the kind {kind!r}" if colon else "this form"
    raise ValueError(f"there is no store of {named}. {_KNOWN}.")


def _file(path: Path, lock_timeout_s: float) -> Backend:
    _need("sqlalchemy", "store")
    from pytest_tripwire.ledger.sql.addresses import file

    return file(path, lock_timeout_s)


def _by_address(words: str, lock_timeout_s: float) -> Backend:
    from pytest_tripwire.ledger.sql.addresses import backend_of

    backend = backend_of(words, lock_timeout_s)
    if backend is None:
        # The words may hold a password.
        raise ValueError(f"the address of the store does not name a place. {_KNOWN}.")
    return backend


def _need(module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise StoreError(
            f"this store needs {module}, which is not installed. "
            f'Run: pip install "pytest-agent-tripwire[{extra}]"'
        )
