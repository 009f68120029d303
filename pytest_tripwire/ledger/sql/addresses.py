"""From an address to the database that it names."""

from __future__ import annotations

import os
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from pytest_tripwire.ledger.sql.engine import Backend, PostgreSQL, SQLite


def file(path: Path, lock_timeout_s: float) -> Backend:
    """An SQLite file."""
    return SQLite(URL.create("sqlite", database=os.fspath(path)), lock_timeout_s)


def backend_of(words: str, lock_timeout_s: float) -> Backend | None:
    """The database at an address of SQLAlchemy's; None if it names none, or one in memory."""
    try:
        url = make_url(words)
    except (ArgumentError, ValueError):
        return None
    if url.get_backend_name() == "postgresql":
        return PostgreSQL(url, lock_timeout_s)
    in_memory = not url.database or ":memory:" in url.database
    return None if in_memory else SQLite(url, lock_timeout_s)
