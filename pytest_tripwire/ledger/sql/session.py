"""One connection, as one thread has it."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from pytest_tripwire.ledger.sql.compiled import Compiler, Statement
from pytest_tripwire.ledger.sql.failures import Failures

Row: TypeAlias = tuple[Any, ...]


class Session:
    """Runs statements on one connection of a driver that commits nothing by itself, and begins
    nothing: what is in a transaction is said in words.

    SQLAlchemy writes the statements, once. They are run on the driver's own cursor: the way through
    `Connection.execute` costs five times what SQLite itself does, for each of the ten statements of
    a guarded write.
    """

    def __init__(self, raw: Any, compiler: Compiler, failures: Failures) -> None:
        self._raw = raw
        self._cursor = raw.cursor()
        self._compiler = compiler
        self._failures = failures
        self.pid = os.getpid()
        #: Held by whoever uses it, which is its thread, or a fork that closes it.
        self.lock = threading.RLock()
        self.was_used = False
        self.is_open = True
        self.in_transaction = False
        #: As the connection has it; only SQLite is told.
        self.synchronous = ""

    @property
    def is_usable(self) -> bool:
        """Whether this process may speak through it."""
        return self.is_open and self.pid == os.getpid()

    def taken(self) -> bool:
        """Take the lock, unless the session is of no use."""
        self.lock.acquire()
        usable = self.is_usable
        if not usable:
            self.lock.release()
        return usable

    def close_when_idle(self, wait_s: float) -> bool:
        """Close it when nobody is in the middle of something. Returns whether it is closed."""
        if self.lock.acquire(timeout=max(0.0, wait_s)):
            if not self.in_transaction:
                self.close()
            self.lock.release()
        return not self.is_open

    def text(self, words: str) -> None:
        """Run what is no statement of SQLAlchemy's. Raises StoreError."""
        self._execute(words, None)

    def run(self, statement: Statement, values: Mapping[str, Any]) -> None:
        """Run a statement that finds nothing. Raises StoreError."""
        words, arrange = self._compiler.ready(statement)
        self._execute(words, arrange(values))

    def rows(self, statement: Statement, values: Mapping[str, Any]) -> Sequence[Row]:
        """What a statement finds. Raises StoreError."""
        self.run(statement, values)
        try:
            found: Sequence[Row] = self._cursor.fetchall()
        except self._failures.errors as error:
            raise self._failures.typed(error) from error
        return found

    def row(self, statement: Statement, values: Mapping[str, Any]) -> Row | None:
        """The first of what a statement finds. Raises StoreError."""
        found = self.rows(statement, values)
        return found[0] if found else None

    def begin(self, words: str) -> None:
        """Start a transaction by these words. Raises StoreError."""
        self.text(words)
        self.in_transaction = True

    def commit(self) -> None:
        """Make the transaction stand. Raises StoreError."""
        self.text("COMMIT")
        self.in_transaction = False

    def rollback(self) -> None:
        """Undo what was done since the transaction began. Raises StoreError where the connection is
        of no use any more.
        """
        self.text("ROLLBACK")
        self.in_transaction = False

    def close(self) -> None:
        """Let go of the connection. One that another process has opened is left alone: its words
        would reach the database in that one's name.
        """
        if self.is_usable:
            self.is_open = False
            # A lost connection may say that it is lost.
            with suppress(*self._failures.errors):
                self._raw.close()

    def _execute(self, words: str, values: Any) -> None:
        try:
            if values is None:
                self._cursor.execute(words)
            else:
                self._cursor.execute(words, values)
        except self._failures.errors as error:
            raise self._failures.typed(error) from error
        self.was_used = True
