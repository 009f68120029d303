"""The two databases: how each is opened, and how a transaction of each begins."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pytest_tripwire.ledger.sql.compiled import Compiler
from pytest_tripwire.ledger.sql.failures import Failures
from pytest_tripwire.ledger.sql.session import Session
from pytest_tripwire.ledger.sql.turns import Turns

#: Seconds for a connection to come up.
_CONNECT_S = 10


class Lock(NamedTuple):
    """What a transaction has for itself, beside all rows that it changes.

    Args:
        name: what it is, and which one.
        shared: whether others may have it at the same time, if they all say so.
    """

    name: str
    shared: bool = False


def resource_lock(resource: str) -> Lock:
    """Nobody else looks for a conflict on the resource, nor begins a write of it."""
    return Lock(f"resource {resource}")


def run_lock(run_id: str, *, shared: bool = False) -> Lock:
    """Nobody else changes the record of the run; shared, it stays as it is."""
    return Lock(f"run {run_id}", shared)


#: Nobody else makes or migrates tables.
SCHEMA_LOCK = Lock("schema")


class Backend(Protocol):
    """One database, as its sessions see it."""

    @property
    def name(self) -> str:
        """`sqlite` or `postgresql`."""

    @property
    def survives_forks(self) -> bool:
        """Whether a fork may inherit open connections, if it leaves them alone."""

    @property
    def failures(self) -> Failures:
        """Tells what the driver has raised."""

    @property
    def turns(self) -> AbstractContextManager[None]:
        """What a thread has entered while it is in a transaction."""

    def connect(self) -> Session:
        """A new connection. Raises StoreError."""

    def opened(self) -> None:
        """It was found to be a store: from now on it has to stay the one that it is."""

    def begin(self, session: Session, locks: Sequence[Lock], *, durable: bool) -> None:
        """Start a transaction that has `locks`. One that is not `durable` may be lost when the
        machine loses its power, whole and with nothing of what went before. Raises StoreError.
        """


class SQLite:
    """A file. One transaction that writes excludes all others, so that no lock needs a name."""

    name = "sqlite"
    survives_forks = False

    def __init__(self, url: URL, lock_timeout_s: float) -> None:
        path = Path(str(url.database))
        if url.query:
            words = f"file:{quote(str(path.absolute()))}"
            url = url.set(database=words).update_query_dict({"uri": "true"})
        self._engine = _engine(url, {"timeout": lock_timeout_s, "check_same_thread": False})
        driver = self._engine.dialect.loaded_dbapi
        self.failures = Failures(f"sqlite:///{path}", "", driver, path.absolute().parent)
        self.turns = Turns(self.failures.where, lock_timeout_s)
        self._compiler = Compiler(self._engine.dialect)
        self._path = path.absolute()
        self._file: tuple[int, int] | None = None

    def connect(self) -> Session:
        """A new connection; see `Backend.connect`."""
        raw = _connected(self._engine, self.failures)
        raw.isolation_level = None
        return Session(raw, self._compiler, self.failures)

    def opened(self) -> None:
        """Remember which file it is; see `Backend.opened`."""
        self._file = _identity(self._path)

    def begin(self, session: Session, locks: Sequence[Lock], *, durable: bool) -> None:
        """Start a transaction; see `Backend.begin`."""
        del locks
        wanted = "FULL" if durable else "NORMAL"
        if session.synchronous != wanted:
            session.text(f"PRAGMA synchronous={wanted}")
            session.synchronous = wanted
        if self._file is not None and _identity(self._path) != self._file:
            raise self.failures.elsewhere()
        session.begin("BEGIN IMMEDIATE")


class PostgreSQL:
    """A server. What has no row yet to be locked by is locked by the hash of its name."""

    name = "postgresql"
    survives_forks = True

    def __init__(self, url: URL, lock_timeout_s: float) -> None:
        defaults = {"connect_timeout": str(_CONNECT_S), "application_name": "pytest-agent-tripwire"}
        url = url.update_query_dict({**defaults, **url.query})
        self._engine = _engine(url, {}, use_native_hstore=False)
        driver = self._engine.dialect.loaded_dbapi
        self.failures = Failures(_without_secrets(url), url.password or "", driver)
        self.turns: AbstractContextManager[None] = nullcontext()
        self._compiler = Compiler(self._engine.dialect)
        milliseconds = max(1, math.ceil(lock_timeout_s * 1000))
        self._words = (
            f"BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = {milliseconds}"
        )

    def connect(self) -> Session:
        """A new connection; see `Backend.connect`."""
        raw = _connected(self._engine, self.failures)
        raw.autocommit = True
        return Session(raw, self._compiler, self.failures)

    def opened(self) -> None:
        """A server looks after its files itself."""

    def begin(self, session: Session, locks: Sequence[Lock], *, durable: bool) -> None:
        """Start a transaction; see `Backend.begin`. All of it is one round trip."""
        words = [self._words]
        if not durable:
            words.append("SET LOCAL synchronous_commit = off")
        words += map(_locking, locks)
        session.begin("; ".join(words))


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is that stands there; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _without_secrets(url: URL) -> str:
    """What is shown of an address. Its options may hold a password as well."""
    sockets = {name: value for name, value in url.query.items() if name == "host"}
    shown = URL.create("postgresql", None, None, url.host, url.port, url.database, sockets)
    return shown.render_as_string()


def _locking(lock: Lock) -> str:
    number = int.from_bytes(hashlib.sha256(lock.name.encode("utf-8", "surrogatepass")).digest()[:8])
    signed = number - (1 << 64) if number >> 63 else number
    return f"SELECT pg_advisory_xact_lock{'_shared' if lock.shared else ''}({signed})"


def _engine(url: URL, arguments: dict[str, Any], **options: Any) -> sa.Engine:
    # Each thread keeps its connection, so that there is nothing to pool.
    return sa.create_engine(
        url, connect_args=arguments, poolclass=NullPool, hide_parameters=True, **options
    )


def _connected(engine: sa.Engine, failures: Failures) -> Any:
    try:
        raw = engine.raw_connection()
    except DBAPIError as error:
        raise failures.typed(error.orig or error) from error
    except failures.errors as error:
        raise failures.typed(error) from error
    raw.detach()
    return raw.dbapi_connection
