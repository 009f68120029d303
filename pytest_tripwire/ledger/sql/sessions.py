"""The connections of a store: one for each thread, none that another process has opened."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TypeVar

from pytest_tripwire.ledger.errors import StoreError, StoreUnreachableError
from pytest_tripwire.ledger.sql.engine import Backend, Lock
from pytest_tripwire.ledger.sql.session import Session

_T = TypeVar("_T")


class _Holder:
    """Goes when its thread goes, and its session with it."""


class Sessions:
    """Runs work on the connection of the calling thread, which it opens when it is first needed."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._local = threading.local()
        # Also those of the process that this one was forked from: to let one of them go would
        # close it.
        self._all: dict[int, Session] = {}

    def read(self, work: Callable[[Session], _T]) -> _T:
        """What `work` finds. A lost connection is made anew once. Raises StoreError."""
        session, is_fresh = self._mine()
        try:
            return work(session)
        except StoreUnreachableError:
            if session.in_transaction:
                raise
            self._drop(session)
            if is_fresh:
                raise
        return work(self._opened())

    def write(
        self, work: Callable[[Session], _T], locks: Sequence[Lock] = (), *, durable: bool = True
    ) -> _T:
        """Do `work` in one transaction, which has `locks`. What it raises undoes all of it.

        Raises:
            StoreError: nothing was done; of StoreUnreachableError that is not known.
            RuntimeError: this thread is in a transaction already.
        """
        session, is_fresh = self._mine()
        if session.in_transaction:
            raise RuntimeError("a store is changed from within a change of it, which cannot be")
        with self.backend.turns:
            session = self._begun(session, locks, durable=durable, is_fresh=is_fresh)
            try:
                result = work(session)
                session.commit()
            except BaseException:
                self._abandon(session)
                raise
        return result

    def close(self) -> None:
        """Close every connection of this process. A later call opens its own again."""
        for number, session in list(self._all.items()):
            session.close()
            if not session.is_open:
                self._all.pop(number, None)

    def _begun(
        self, session: Session, locks: Sequence[Lock], *, durable: bool, is_fresh: bool
    ) -> Session:
        try:
            return self._begin(session, locks, durable=durable)
        except StoreUnreachableError:
            # Lost while it was not used. Nothing was begun, so that nothing can have been done.
            if is_fresh:
                raise
        return self._begin(self._opened(), locks, durable=durable)

    def _begin(self, session: Session, locks: Sequence[Lock], *, durable: bool) -> Session:
        try:
            self.backend.begin(session, locks, durable=durable)
        except BaseException:
            self._abandon(session)
            raise
        return session

    def _mine(self) -> tuple[Session, bool]:
        session: Session | None = getattr(self._local, "session", None)
        if session is not None and session.is_usable:
            return session, False
        return self._opened(), True

    def _opened(self) -> Session:
        session = self.backend.connect()
        holder = _Holder()
        self._all[id(session)] = session
        weakref.finalize(holder, _let_go, self._all, session)
        self._local.session = session
        self._local.holder = holder
        return session

    def _abandon(self, session: Session) -> None:
        try:
            session.rollback()
        except StoreError:
            self._drop(session)
        except BaseException:
            self._drop(session)
            raise

    def _drop(self, session: Session) -> None:
        session.close()
        self._all.pop(id(session), None)
        self._local.session = self._local.holder = None


def _let_go(known: dict[int, Session], session: Session) -> None:
    session.close()
    if not session.is_open:
        known.pop(id(session), None)
