"""What a guarded write costs on an SQLite store, beside one durable insert; reads pay nothing."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import Prepared, Subject, in_turns
from benchmarks.tools import RefusedError, was_refused
from pytest_tripwire.breaker import Breaker, BreakerRun, tool_spec
from pytest_tripwire.ledger import MemoryLedger, Store, open_store

NAME = "durable-write"

#: Of its own length, which is that of a row of ours.
_ROW = "x" * 400


@tool_spec(effect="write", identity=("order",), result_id="payment_id")
def pay(order: str, euros: int) -> dict[str, str]:
    """Pay an order, for nothing."""
    return {"payment_id": f"P-{order}-{euros}"}


@tool_spec(effect="read", identity=("order",))
def look(order: str) -> dict[str, str]:
    """Look an order up, in nothing."""
    return {"order": order}


def run(plan: Plan) -> Iterator[Line]:
    """Compare writes with inserts by the clock on the wall, as both wait for the disk, and reads
    with those of a store in memory.
    """
    writes, reads = (10, 200) if plan.quick else (100, 2_000)
    rounds = 3 if plan.quick else 15
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        store = open_store(folder / "runs.db")
        stack.callback(store.close)
        subjects = {
            "insert": _inserts(stack.enter_context(closing(_table(folder / "bare.db"))), writes),
            "write": _calls(store, "pay", writes),
        }
        times = in_turns(subjects, rounds=rounds, clock=time.perf_counter)
        told = "a guarded write on SQLite / one durable insert by sqlite3"
        yield Line(benchmark=NAME, what=told, value=times.ratio("write", "insert"), goal=2.0)
        subjects = {
            "memory": _calls(MemoryLedger(), "look", reads),
            "sqlite": _calls(store, "look", reads),
        }
        value = in_turns(subjects, rounds=rounds).ratio("sqlite", "memory")
        told = "a guarded read, with a store on SQLite / in memory"
        yield Line(benchmark=NAME, what=told, value=value, goal=1.05)


def _table(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, body TEXT)")
    return connection


def _inserts(connection: sqlite3.Connection, number: int) -> Subject:
    keys = iter(range(10**9))

    def timed() -> None:
        for _ in range(number):
            connection.execute("INSERT INTO rows VALUES (?, ?)", (f"key-{next(keys)}", _ROW))

    return lambda: timed


def _calls(store: Store, tool: str, number: int) -> Subject:
    """Calls of one tool in a run of its own, each about another order."""
    breaker = Breaker(store=store)
    pieces = iter(range(10**9))

    def prepare() -> Prepared:
        piece = next(pieces)
        guarded = _guarded(breaker.run(request_id=f"message-{piece}"))[tool]
        given = [{"order": f"A-{piece}-{at}"} for at in range(number)]
        if tool == "pay":
            given = [{**each, "euros": 40} for each in given]

        def timed() -> None:
            for each in given:
                result = guarded(**each)
            if was_refused(result):
                raise RefusedError(result)

        return timed

    return prepare


def _guarded(run: BreakerRun) -> dict[str, Callable[..., Any]]:
    guarded: dict[str, Callable[..., Any]] = run.guard({"pay": pay, "look": look})
    return guarded
