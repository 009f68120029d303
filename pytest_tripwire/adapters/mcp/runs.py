"""Whose run decides about a request to a server: that of its session."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from pytest_tripwire.guard import Breaker, BreakerRun
from pytest_tripwire.timeline import InterruptionRecord

log = logging.getLogger("pytest_tripwire.adapters.mcp")

_Key: TypeAlias = tuple[str, int | str]


class Lent(msgspec.Struct, frozen=True, kw_only=True):
    """A run, for one request.

    Args:
        run: decides.
        writes: whether the request may write.
    """

    run: BreakerRun
    writes: bool = True


class RunPerSession:
    """Gives each session of a server a run of its own: what one client does in vain stops nobody
    else. Writes are remembered beyond it, in the breaker's store.

    The run ends with the session, or when that was quiet for a while: a client that stays connected
    does one piece of work after another. A request without a session, as later releases of the
    protocol send them over HTTP, has a run to itself unless `piece_of` says what it belongs to. It
    may read, and not write: nobody would know the write again in the next request.

    Args:
        breaker: makes the runs.
        workflow: workflow and version, for each of them.
        tenant_of: on whose behalf a request is made, by the server's context of it. Take it from
            your authentication. Sessions of two tenants share nothing.
        piece_of: names the piece of work that a request belongs to, "" for none; it stands in
            place of the session, and is the run's request id, so that none of its writes is made
            twice by a client that has connected anew.
        unnamed_writes: whether a request that has no session, and whose piece of work has no name,
            may write all the same: each is a piece of work by itself then, and makes again what
            another has made. What is unknown is held even so.
        quiet_s: seconds without a call after which a run ends; the next call begins another.
        most: runs that are kept at a time; one more ends the one that was quiet longest.
        told: hears the record of each run that did not end well.
    """

    def __init__(
        self,
        breaker: Breaker,
        *,
        workflow: str = "",
        tenant_of: Callable[[Any], str] = lambda _context: "",
        piece_of: Callable[[Any], str] = lambda _context: "",
        unnamed_writes: bool = False,
        quiet_s: float = 300.0,
        most: int = 10_000,
        told: Callable[[InterruptionRecord], None] = lambda _record: None,
    ) -> None:
        self._breaker, self._workflow = breaker, workflow
        self._tenant_of, self._piece_of, self._told = tenant_of, piece_of, told
        self._unnamed_writes, self._quiet_s, self._most = unnamed_writes, quiet_s, most
        self._lock = threading.Lock()
        #: Those that were used longest ago come first.
        self._pieces: OrderedDict[_Key, _Piece] = OrderedDict()

    def __len__(self) -> int:
        return len(self._pieces)

    @contextmanager
    def lend(self, context: Any) -> Iterator[Lent]:
        """The run that decides about a request, which does not end meanwhile of itself."""
        self._end(self._idle())
        tenant, named = self._tenant_of(context), self._piece_of(context)
        connection = _connection_of(context)
        if not named and not connection.has_standalone_channel:
            alone = self._begun(tenant, "")
            try:
                yield Lent(run=alone.run, writes=self._unnamed_writes)
            finally:
                self._end([alone])
            return
        key = (tenant, named or id(connection.outbound))
        piece = self._used(key, tenant, named, connection)
        try:
            yield Lent(run=piece.run)
        finally:
            self._given_back(key, piece)

    def close(self) -> None:
        """End every run, as when the server ends."""
        self._end(self._taken_out(lambda _key, _piece: True))

    # -- pieces of work

    def _begun(self, tenant: str, named: str, channel: Any = None) -> _Piece:
        # A shared store needs a name for each piece of work; nobody comes back to this one.
        request_id = named or (self._breaker.new_id() if self._breaker.store.durable else "")
        run = self._breaker.run(tenant=tenant, workflow=self._workflow, request_id=request_id)
        return _Piece(run, channel)

    def _used(self, key: _Key, tenant: str, named: str, connection: Any) -> _Piece:
        with self._lock:
            piece = self._pieces.get(key)
            if piece is None:
                channel = None if named else connection.outbound
                piece = self._pieces[key] = self._begun(tenant, named, channel)
            self._touch(key, piece, users=1)
        if piece.channel is not None:
            self._end_with(connection)
        return piece

    def _given_back(self, key: _Key, piece: _Piece) -> None:
        with self._lock:
            self._touch(key, piece, users=-1)

    def _touch(self, key: _Key, piece: _Piece, *, users: int) -> None:
        piece.users += users
        piece.used_at = self._breaker.clock.now()
        if key in self._pieces:
            self._pieces.move_to_end(key)

    # -- their ends

    def _end_with(self, connection: Any) -> None:
        """End what a session has begun when that ends. In later releases of the protocol what is
        called a connection is one request's.
        """
        mark = f"pytest_tripwire.{id(self)}"
        if connection.protocol_version in MODERN_PROTOCOL_VERSIONS or mark in connection.state:
            return
        connection.state[mark] = True
        channel = connection.outbound

        def end() -> None:
            self._end(self._taken_out(lambda _key, piece: piece.channel is channel))

        connection.exit_stack.callback(end)

    def _idle(self) -> list[_Piece]:
        """Those that were quiet for too long, and those that are too many."""
        now, spare = self._breaker.clock.now(), max(0, len(self._pieces) - self._most)
        keys: set[_Key] = set()
        with self._lock:
            for key, piece in self._pieces.items():
                if now - piece.used_at < self._quiet_s and len(keys) >= spare:
                    break
                if not piece.users:
                    keys.add(key)
            return [self._pieces.pop(key) for key in keys]

    def _taken_out(self, wanted: Callable[[_Key, _Piece], bool]) -> list[_Piece]:
        with self._lock:
            keys = [key for key, piece in self._pieces.items() if wanted(key, piece)]
            return [self._pieces.pop(key) for key in keys]

    def _end(self, pieces: list[_Piece]) -> None:
        """Close runs. What goes wrong with one is no matter of the request that has met it."""
        for piece in pieces:
            try:
                record = piece.run.close()
                if record is not None:
                    self._told(record)
            except Exception:
                log.exception("run %s could not be closed", piece.run.run_id)


class _Piece:
    """A piece of work: its run, and how many requests use it.

    Args:
        run: decides.
        channel: of the session that it is bound to; kept, so that no other gets its identity.
    """

    __slots__ = ("channel", "run", "used_at", "users")

    def __init__(self, run: BreakerRun, channel: Any) -> None:
        self.run, self.channel = run, channel
        self.users, self.used_at = 0, 0.0


def _connection_of(context: Any) -> Any:
    """The connection that a request came by. The package keeps it in the session that it makes for
    each request, and tells it nowhere else.
    """
    connection = getattr(context.session, "_connection", None)
    if connection is None:
        raise TypeError(
            "this release of mcp does not tell by which connection a request came: give "
            "ServerMiddleware a function that says which run decides about it"
        )
    return connection
