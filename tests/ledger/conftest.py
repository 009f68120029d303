"""Stores of every kind, and what is put into them."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.breaker import Mode, Reason
from pytest_tripwire.ledger import Store, open_store
from pytest_tripwire.timeline import InterruptionRecord, WriteEntry

HERE = Path(__file__).parent
SECONDS = 60


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """The address of a store in a database that is not there yet."""
    pytest.importorskip("sqlalchemy")
    if request.param == "sqlite":
        return f"sqlite:///{request.getfixturevalue('folder')}/runs.db"
    return str(request.getfixturevalue("server").new_schema())


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """An empty store, of which every happening is a second later than the last."""
    if request.param == "memory":
        where = "memory:"
    else:
        pytest.importorskip("sqlalchemy")
        if request.param == "sqlite":
            where = f"sqlite:///{request.getfixturevalue('folder')}/runs.db"
        else:
            where = request.getfixturevalue("server").new_schema()
    seconds = iter(range(1000, 10_000))
    with closing(open_store(where, now=lambda: float(next(seconds)))) as opened:
        yield opened


@pytest.fixture
def entry() -> Callable[..., WriteEntry]:
    def made(key: str, resource: str = "r", **over: Any) -> WriteEntry:
        values: dict[str, Any] = {
            "key": key,
            "run_id": "run",
            "epoch": "e",
            "tool": "pay",
            "kind": "pay",
            "resource": resource,
            "intent": "i",
            "dispatched_at": 1.0,
        }
        return WriteEntry(**{**values, **over})

    return made


@pytest.fixture
def record() -> Callable[..., InterruptionRecord]:
    def made(run_id: str = "run", **over: Any) -> InterruptionRecord:
        values: dict[str, Any] = {
            "run_id": run_id,
            "tenant": "",
            "workflow": "",
            "mode": Mode.STOPPED,
            "reason": Reason.DEADLINE,
            "message": "",
            "evidence": (),
            "budgets": (),
            "last_intent": "",
            "writes": (),
            "safe_actions": (),
        }
        return InterruptionRecord(**{**values, **over})

    return made


@pytest.fixture
def threads_switch_often() -> Iterator[None]:
    # With the usual 5 ms a thread does all its work in one go, and nothing is tested.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.fixture
def at_once(threads_switch_often: None) -> Callable[..., list[Any]]:
    """What many threads get that do something at the same moment, each given its number."""

    def run(many: int, work: Callable[[int], Any]) -> list[Any]:
        gate = threading.Barrier(many)
        results: list[Any] = []

        def one(number: int) -> None:
            gate.wait(SECONDS)
            results.append(work(number))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(many)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert len(results) == many
        return results

    return run


@pytest.fixture(scope="session")
def crowd() -> Iterator[Callable[..., Any]]:
    """What tests/ledger/crowd.py says of what processes have done with a store."""
    with subprocess.Popen(
        [sys.executable, HERE / "crowd.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def run(what: str, *arguments: Any) -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([what, *arguments]) + "\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], SECONDS)[0], "they come to no end"
            told = json.loads(process.stdout.readline())
            assert "error" not in told, told["error"]
            return told["answer"]

        try:
            yield run
            process.communicate(timeout=SECONDS)
        finally:
            process.kill()
