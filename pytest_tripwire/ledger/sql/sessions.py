"""The connections of a store: one for each thread, none that another process has opened."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from pytest_tripwire.ledger.errors import StoreError, StoreUnreachableError
from pytest_tripwire.ledger.sql.engine import Backend, Lock
from pytest_tripwire.ledger.sql.forks import tell_of_forks
from pytest_tripwire.ledger.sql.session import Session

_T = TypeVar("_T")


class _Holder:
    """Goes when its thread goes, and its session with it."""


class Sessions:
    """Runs work on the connection of the calling thread, which it opens when it is first needed.

    Args:
        backend: the database.
        wait_s: how long a fork waits for what other threads are about.
    """

    def __init__(self, backend: Backend, wait_s: float) -> None:
        self.backend = backend
        self._wait_s = wait_s
        self._pid = os.getpid()
        self._local = threading.local()
        self._opening = threading.Lock()
        # Also those of the process that this one was forked from: to forget one would close it.
        self._all: dict[int, Session] = {}
        if not backend.survives_forks:
            tell_of_forks(self)

    def read(self, work: Callable[[Session], _T]) -> _T:
        """What `work` finds. A lost connection is made anew once. Raises StoreError."""
        while True:
            with self._mine() as session:
                is_fresh = not session.was_used
                try:
                    return work(session)
                except StoreUnreachableError:
                    if is_fresh or session.in_transaction:
                        raise
                    self._drop(session)

    def write(
        self, work: Callable[[Session], _T], locks: Sequence[Lock] = (), *, durable: bool = True
    ) -> _T:
        """Do `work` in one transaction, which has `locks`. What it raises undoes all of it.

        Raises:
            StoreError: nothing was done; of StoreUnreachableError that is not known.
            RuntimeError: this thread is in a transaction already.
        """
        known: Session | None = getattr(self._local, "session", None)
        if known is not None and known.is_usable and known.in_transaction:
            raise RuntimeError("a store is changed from within a change of it, which cannot be")
        with self.backend.turns:
            while True:
                with self._mine() as session:
                    if self._begun(session, locks, durable=durable):
                        return self._done(session, work)

    def close(self) -> None:
        """Close every connection of this process. A later call opens its own again."""
        for session in list(self._all.values()):
            if session.pid == os.getpid():
                session.close()
                self._all.pop(id(session), None)

    def before_fork(self) -> None:
        """Close all connections that are not in the middle of something; see `tell_of_forks`."""
        self._opening.acquire()
        until = time.monotonic() + self._wait_s
        for session in list(self._all.values()):
            if session.close_when_idle(until - time.monotonic()):
                self._all.pop(id(session), None)

    def after_fork(self) -> None:
        """Open connections again, when they are needed."""
        self._opening.release()

    def in_child(self) -> None:
        """The same; what holds the lock did not come along."""
        self._opening = threading.Lock()

    def _begun(self, session: Session, locks: Sequence[Lock], *, durable: bool) -> bool:
        """False where the connection was lost while nobody used it, so that nothing was begun."""
        is_fresh = not session.was_used
        try:
            self.backend.begin(session, locks, durable=durable)
        except StoreUnreachableError:
            self._drop(session)
            if is_fresh:
                raise
            return False
        except BaseException:
            self._abandon(session)
            raise
        return True

    def _done(self, session: Session, work: Callable[[Session], _T]) -> _T:
        try:
            result = work(session)
            session.commit()
        except BaseException:
            self._abandon(session)
            raise
        return result

    @contextmanager
    def _mine(self) -> Iterator[Session]:
        if self._pid != os.getpid():
            self._check_what_came_along()
        session: Session | None = getattr(self._local, "session", None)
        while session is None or not session.taken():
            session = self._opened()
        try:
            yield session
        finally:
            session.lock.release()

    def _check_what_came_along(self) -> None:
        if not self.backend.survives_forks and self._all:
            raise StoreError(
                f"the store {self.backend.failures.where} was being written by another thread when "
                "this process was forked from that one, so that it cannot be used here. Fork when "
                "no thread writes, or before the store is opened."
            )
        self._pid = os.getpid()

    def _opened(self) -> Session:
        with self._opening if not self.backend.survives_forks else nullcontext():
            session = self.backend.connect()
            self._all[id(session)] = session
        holder = _Holder()
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
    if session.pid == os.getpid():
        session.close()
        known.pop(id(session), None)
