"""What a driver has raised, as one of the errors that a store documents."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from pytest_tripwire.ledger import errors as typed_errors
from pytest_tripwire.ledger.errors import StoreError


class _Kind(NamedTuple):
    error: type[StoreError]
    what: str
    todo: str


_READ_ONLY = _Kind(
    typed_errors.StoreReadOnlyError,
    "may not be written",
    "Give this process the right to write it (of an SQLite file, also its directory), or name "
    "another store.",
)
_FULL = _Kind(
    typed_errors.StoreFullError,
    "has no room left",
    "Make room where the store is; then writes go on.",
)
_LOCKED = _Kind(
    typed_errors.StoreLockedError,
    "is held by somebody else",
    "Find the process that holds it, or wait longer with `lock_timeout_s`.",
)
_LOST = _Kind(
    typed_errors.StoreUnreachableError,
    "cannot be reached, or the connection was lost",
    "See that it runs and can be reached from here. Whether a change that was under way was made "
    "is not known.",
)
_MISSING = _Kind(
    typed_errors.StoreUnreachableError,
    "cannot be opened",
    "See that its directory is there, and that this process may read and write in it.",
)
_IO = _Kind(
    StoreError,
    "could not be read or written",
    "See what the system's log says of its disk.",
)
_DAMAGED = _Kind(
    typed_errors.StoreDamagedError,
    "is no database, or a damaged one",
    "Name another file, or restore this one from a backup. It was not touched.",
)
_OTHER = _Kind(
    StoreError,
    "has refused a statement",
    "If another program changes this store's tables, give it a place of its own.",
)

#: Bytes that SQLite needs at once.
_PAGE = 64 * 1024

_SQLITE = {
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_CANTOPEN: _MISSING,
    sqlite3.SQLITE_IOERR: _IO,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
}
#: By SQLSTATE, or by its class.
_POSTGRES = {
    "25006": _READ_ONLY,
    "42501": _READ_ONLY,
    "53100": _FULL,
    "40P01": _LOCKED,
    "55P03": _LOCKED,
    "57014": _LOCKED,
    "08": _LOST,
    "28": _LOST,
    "3D": _LOST,
    "57P": _LOST,
    "53300": _LOST,
}


class Failures:
    """Tells the errors of one store's driver.

    Args:
        where: the store, without its password.
        secret: the password, which no message may hold.
        driver: the module of the driver.
        folder: where the file is, if it is one.
    """

    def __init__(self, where: str, secret: str, driver: Any, folder: Path | None = None) -> None:
        self.where = where
        self._secret = secret
        self._folder = folder
        self.errors: tuple[type[Exception], ...] = (driver.Error,)

    def typed(self, error: Exception) -> StoreError:
        """The error to raise instead."""
        kind = _kind(error)
        if self._folder is not None and kind in {_MISSING, _IO}:
            kind = _told_by(self._folder) or kind
        return kind.error(f"the store {self.where} {kind.what}: {self._said(error)}. {kind.todo}")

    def elsewhere(self) -> StoreError:
        """The error to raise where another file, or none, stands where this one was: SQLite goes on
        writing to the one that it has opened, and nobody would ever read that.
        """
        return StoreError(
            f"the store {self.where} is not the file any more that this process has opened: it was "
            "deleted, moved or replaced. Put it back, or start this process anew with the one that "
            "is there now."
        )

    def _said(self, error: Exception) -> str:
        said = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        return said.replace(self._secret, "***") if self._secret else said


def _told_by(folder: Path) -> _Kind | None:
    """SQLite does not say why it can make no file, or make none longer."""
    if not folder.is_dir():
        return None
    if shutil.disk_usage(folder).free < _PAGE:
        return _FULL
    return None if os.access(folder, os.W_OK) else _READ_ONLY


def _kind(error: Exception) -> _Kind:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        return _OTHER if code is None else _SQLITE.get(code & 0xFF, _OTHER)
    state = getattr(error, "sqlstate", None)
    if state is None:
        # The server has said nothing: it was not there to say it.
        return _LOST if type(error).__name__ == "OperationalError" else _OTHER
    return next((kind for start, kind in _POSTGRES.items() if state.startswith(start)), _OTHER)
