"""A place for what may outgrow memory."""

from __future__ import annotations

import sqlite3


def database(tables: str) -> sqlite3.Connection:
    """A database without a name, on disk once it is large and gone when it is closed.

    Args:
        tables: the statements that make its tables, each ended by a semicolon.
    """
    made = sqlite3.connect("", isolation_level=None)
    made.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {tables} BEGIN;")
    return made
