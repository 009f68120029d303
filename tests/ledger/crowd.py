"""Processes that use one store. Each line of the input says what they are to do, as a JSON list; it
is answered by a line with what became of them, or with the error.

They are forked from this one, which has read all modules and has no store open: fifty that start by
themselves would take a minute.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from pytest_tripwire.ledger import Store, StoreError, open_store
from pytest_tripwire.ledger.sql.addresses import backend_of
from pytest_tripwire.ledger.sql.session import Session
from pytest_tripwire.ledger.sql.sessions import Sessions
from pytest_tripwire.timeline import WriteEntry, WriteStatus

YES, NO = 0, 1
BACKEND = sa.text("SELECT pg_backend_pid()")


def entry(key: str) -> WriteEntry:
    return WriteEntry(
        key=key,
        run_id="run",
        epoch="e",
        tool="pay",
        kind="pay",
        resource="r",
        intent="i",
        dispatched_at=1.0,
    )


def claim(store: Store) -> bool:
    return store.claim("run", 1, operator=str(os.getpid())) is not None


def begin(store: Store) -> bool:
    return store.begin(entry(str(os.getpid())), lambda known: next(iter(known), None)) is None


def opened(store: Store) -> bool:
    return store.records is not None


def settle(store: Store) -> bool:
    store.settle("1", WriteStatus.CONFIRMED, result_id=str(os.getpid()))
    return True


def child(work: Callable[[], bool]) -> int:
    """The number of a process that does `work`, which nothing of this one disturbs."""
    number = os.fork()
    if number == 0:
        code = 2
        try:
            code = YES if work() else NO
        except StoreError as error:
            sys.stderr.write(f"{error}\n")
            sys.stderr.flush()
            code = 3
        except BaseException:  # noqa: BLE001 -- this process ends here
            traceback.print_exc()
        finally:
            os._exit(code)
    return number


def code_of(number: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def crowd(address: str, many: int, what: str) -> dict[str, int]:
    """How many have ended with each code; all start when a pipe is closed."""
    reading, writing = os.pipe()

    def work() -> bool:
        os.close(writing)
        os.read(reading, 1)
        return bool(globals()[what](open_store(address, lock_timeout_s=30)))

    numbers = [child(work) for _ in range(many)]
    os.close(writing)
    return dict(Counter(str(code_of(number)) for number in numbers))


def killed(address: str, where: str) -> int:
    """What becomes of one that is killed while it begins a write: `checking`, or `committing`."""

    def die(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def work() -> bool:
        store = open_store(address)
        if where == "committing":
            setattr(Session, "commit", die)  # noqa: B010 -- for this process only
        return store.begin(entry("1"), die if where == "checking" else lambda _: None) is None

    return code_of(child(work))


def unprivileged(address: str) -> str:
    """The error that somebody gets who may read a file and no more."""
    reading, writing = os.pipe()

    def work() -> bool:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        said = "none"
        try:
            begin(open_store(address))
        except StoreError as error:
            said = type(error).__name__
        os.write(writing, said.encode())
        return True

    code_of(child(work))
    os.close(writing)
    return os.read(reading, 100).decode()


def forked(address: str) -> list[Any]:
    """What a fork gets from a store that was open, after the process that opened it has closed it;
    and what others read then.
    """
    store = open_store(address)
    store.begin(entry("mine"), lambda _: None)
    mine = store.owner
    reading, writing = os.pipe()

    def work() -> bool:
        os.close(writing)
        os.read(reading, 1)
        return store.begin(entry("forked"), lambda _: None) is None and store.owner != mine

    number = child(work)
    store.close()
    os.close(writing)
    code = code_of(number)
    return [code, [each.key for each in store.of_run("run")]]


def backends(address: str) -> int:
    """Whether a fork speaks to a server process of its own, while the first one goes on."""
    store = open_store(address)

    def spoken_to() -> Any:
        sessions: Sessions = vars(store)["_sessions"]
        return sessions.read(lambda session: session.rows(BACKEND, {}))

    mine = spoken_to()
    code = code_of(child(lambda: spoken_to() != mine))
    return code if spoken_to() == mine else -1


def forked_amid(address: str) -> int:
    """What becomes of a fork that uses the store in which a thread was when it began."""
    store = open_store(address, lock_timeout_s=0.1)
    inside, leave = threading.Event(), threading.Event()

    def slow(_known: Any) -> None:
        inside.set()
        leave.wait(30)

    busy = threading.Thread(target=lambda: store.begin(entry("busy"), slow))
    busy.start()
    inside.wait(30)
    code = code_of(child(lambda: store.of_run("run") == ()))
    leave.set()
    busy.join(30)
    return code if store.entry("busy") is not None else -1


def told(asked: Sequence[Any]) -> dict[str, Any]:
    """What becomes of it in a process of its own, which leaves nothing open in this one."""
    reading, writing = os.pipe()

    def work() -> bool:
        what, where, *others = asked
        try:
            answer = {"answer": globals()[what](where, *others)}
        except BaseException:  # noqa: BLE001 -- told to the test, whatever it is
            answer = {"error": traceback.format_exc()}
        os.write(writing, json.dumps(answer).encode())
        return True

    code = code_of(child(work))
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        said: dict[str, Any] = json.loads(file.read() or b"null") or {"error": f"ended as {code}"}
    return said


def warm() -> None:
    """Reads all modules that a store needs, and has its statements compiled."""
    if importlib.util.find_spec("psycopg"):
        backend_of("postgresql+psycopg://nobody@localhost/nothing", 1.0)
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "warm.db")
        begin(store)
        claim(store)
        store.close()


if __name__ == "__main__":
    warm()
    gc.freeze()
    for line in sys.stdin.buffer:
        sys.stdout.write(json.dumps(told(json.loads(line))) + "\n")
        sys.stdout.flush()
