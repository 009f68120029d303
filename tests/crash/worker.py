"""Processes that are killed. Each is forked from one that has everything imported already: five
hundred starts of an interpreter would take minutes. Who comes after a dead one, alone, and lives,
does so in the process that forks: it has opened nothing of theirs, and to fork costs more than to
live.

Run it by `python -m tests.crash.worker`, say what to do in lines of JSON, and it answers each.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from .agent import Account, Agent, Life
from .watch import Watch


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Live these lives at once, or wake one that has stopped."""

    lives: tuple[Life, ...] = ()
    wake: int = 0


class End(msgspec.Struct, frozen=True, kw_only=True):
    """How a life has ended.

    Args:
        pid: the process.
        state: `killed`, `stopped`, `over` or `failed`.
        where: the point where it was killed or stopped last.
        account: what it has said of itself; None if it could not.
        error: why it has failed.
    """

    pid: int
    state: str
    where: str = ""
    account: Account | None = None
    error: str = ""


class Workers:
    """Starts lives and waits for their ends."""

    def __init__(self) -> None:
        self._told: dict[int, int] = {}

    def do(self, order: Order) -> list[End]:
        if order.wake:
            os.kill(order.wake, signal.SIGCONT)
            return [self._waited_for(order.wake)]
        if len(order.lives) == 1 and order.lives[0].stays_whole:
            return [self._lived_here(order.lives[0])]
        ready, go = os.pipe()
        pids = [self._born(life, ready, go) for life in order.lives]
        os.close(ready)
        os.close(go)  # whoever waits goes on now
        return [self._waited_for(pid) for pid in pids]

    def _lived_here(self, life: Life) -> End:
        told, tell = os.pipe()
        status = live(life, tell)
        os.close(tell)
        return self._ended(os.getpid(), told, "failed" if status else "over")

    def _born(self, life: Life, ready: int, go: int) -> int:
        told, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(go)
            os.close(told)
            os.read(ready, 1)
            os._exit(live(life, tell))
        os.close(tell)
        self._told[pid] = told
        return pid

    def _waited_for(self, pid: int) -> End:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            return End(pid=pid, state="stopped")
        state = "over" if status == 0 else "failed"
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            state = "killed"
        return self._ended(pid, self._told.pop(pid), state)

    def _ended(self, pid: int, told: int, state: str) -> End:
        said: dict[str, Any] = {}
        with os.fdopen(told, "rb") as file:
            for line in file:
                said |= msgspec.json.decode(line)
        assert state != "killed" or "where" in said, "somebody else has killed it"
        return msgspec.convert({"pid": pid, "state": state, **said}, End)


def live(life: Life, tell: int) -> int:
    """Live one life. Returns what the process ends with."""

    def say(**what: Any) -> None:
        os.write(tell, msgspec.json.encode(what) + b"\n")

    account = Account()
    try:
        if life.sabotage:
            # It reaches into what needs SQLAlchemy, and tests without that are only skipped.
            from .sabotage import SABOTAGE

            SABOTAGE[life.sabotage]()
        with Watch(life.point, lambda where: say(where=where)) as watch:
            agent = Agent(life, account)
            agent.play()
            agent.close()
        account.steps = watch.steps
        say(account=account)
    except BaseException:  # noqa: BLE001 - told to the test, whatever it is
        say(error=traceback.format_exc()[-3000:])
        return 1
    return 0


def warm() -> None:
    """Load what lives load, in this process, so that they need not."""
    for module in ("asyncio", "psycopg", "sqlalchemy.dialects.postgresql.psycopg"):
        if importlib.util.find_spec(module.partition(".")[0]):
            importlib.import_module(module)
    with tempfile.TemporaryDirectory() as folder:
        life = Life(name="0", store=f"sqlite:///{folder}/s.db", world=f"{folder}/w", case="0")
        agent = Agent(life, Account())
        agent.play()
        agent.close()


def main(lines: Sequence[bytes] | Any) -> None:
    workers = Workers()
    for line in lines:
        ends = workers.do(msgspec.json.decode(line, type=Order))
        sys.stdout.buffer.write(msgspec.json.encode(ends) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    assert Path.cwd() == Path(__file__).parents[2]
    warm()
    # What is here already is not looked through again, nor copied, by any of those to come.
    gc.freeze()
    main(sys.stdin.buffer)
