"""One life of a worker: it opens the store, takes its message, pays what is to be paid, ends."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import msgspec

from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted, ResumeRefusedError
from pytest_tripwire.guard import Resume
from pytest_tripwire.ledger import open_store
from pytest_tripwire.timeline import Effect, ToolSpec

from .watch import COUNT, Point
from .world import LATE_S, World

LOOK = ToolSpec(name="look", effect=Effect.READ, identity=("order",))
PAY = ToolSpec(
    name="pay",
    effect=Effect.WRITE,
    identity=("order",),
    result_id="id",
    reconcile="look",
    late_effect_s=LATE_S,
    key_argument="key",
)
LEASE_S = 300.0
TRIES = 3


class Life(msgspec.Struct, frozen=True, kw_only=True):
    """What one process is to do.

    Args:
        name: unlike that of any other life of the case.
        store: address of the store.
        world: the world's file.
        case: names the tenant and the request.
        orders: what is to be paid.
        starts_at: seconds on its clock.
        machine: where it runs; of one on the tests' own, others can tell whether it has ended.
        clock: a file that says what time it is, where several processes have to agree.
        manner: of the world.
        plot: `pays`; `gives_up` after the first answer that is lost; `is_stopped` by somebody
            before it pays the last order; `resumes` the run that is named.
        in_tasks: whether it is async.
        reconciles: whether the spec names a read that settles.
        point: where it ends; None to live on.
        sabotage: what is broken in this process.
        resumes: run and token version, for the plot of that name.
    """

    name: str
    store: str
    world: str
    case: str
    orders: tuple[str, ...] = ("A", "B")
    starts_at: float = 0.0
    machine: str = ""
    clock: str = ""
    manner: str = "prompt"
    plot: str = "pays"
    in_tasks: bool = False
    reconciles: bool = True
    point: Point | None = None
    sabotage: str = ""
    resumes: tuple[str, int] = ("", 1)

    @property
    def tenant(self) -> str:
        return f"tenant of {self.case}"

    @property
    def stays_whole(self) -> bool:
        """Whether nothing happens to its process, nor is anything in it other than in others."""
        return self.point in (None, COUNT) and not self.sabotage


class Account(msgspec.Struct, kw_only=True):
    """What a life says of itself. It proves nothing.

    Args:
        run_id: of its run.
        told: what each order's last call gave: an id, or the reason of a refusal.
        interrupted: the reason of its record, if it was interrupted.
        refused: why nothing could be resumed.
        steps: how many lines of the package it has gone through, if they were counted.
    """

    run_id: str = ""
    told: dict[str, str] = msgspec.field(default_factory=dict)
    interrupted: str = ""
    refused: str = ""
    steps: int = 0


def _owner(life: Life) -> str | None:
    return f"{life.machine}:{life.name}:1" if life.machine else None


class Clock:
    """Seconds that pass when a life sleeps, or a file says so."""

    def __init__(self, life: Life) -> None:
        self._seconds = life.starts_at
        self._file = Path(life.clock) if life.clock else None

    def now(self) -> float:
        if self._file is not None:
            self._seconds = max(self._seconds, float(self._file.read_text()))
        return self._seconds

    def sleep(self, seconds: float) -> None:
        self._seconds = self.now() + seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)

    async def within(self, _seconds: float, work: Any) -> Any:
        return await work


class Agent:
    """Plays the plot of a life."""

    def __init__(self, life: Life, account: Account) -> None:
        self._life = life
        self._account = account
        clock = Clock(life)
        numbers = itertools.count(1)
        self._world = World(Path(life.world), life.name, clock.now, life.manner)
        pay = PAY if life.reconciles else msgspec.structs.replace(PAY, reconcile=None)
        self.breaker = Breaker(
            store=open_store(life.store, owner=_owner(life)),
            specs={"look": LOOK, "pay": pay},
            clock=clock,
            lease_s=LEASE_S,
            policy_version="1",
            new_id=lambda: f"{life.name}#{next(numbers)}",
        )

    def play(self) -> None:
        try:
            run = self._run()
        except ResumeRefusedError as error:
            self._account.refused = str(error)
            return
        self._account.run_id = run.run_id
        try:
            with run:
                self._work(run)
        except Interrupted as error:
            self._account.interrupted = error.record.reason

    def close(self) -> None:
        """Let go of what it has opened."""
        self.breaker.store.close()  # type: ignore[attr-defined]
        self._world.close()

    def _run(self) -> BreakerRun:
        life = self._life
        if life.plot != "resumes":
            return self.breaker.run(
                tenant=life.tenant, workflow="payments@1", request_id=f"request of {life.case}"
            )
        run_id, version = life.resumes
        return self.breaker.resume(
            Resume(run_id=run_id, token_version=version, operator="ada", workflow="payments@1"),
            authorise=lambda *_: True,
            reload=lambda _: None,
        )

    def _work(self, run: BreakerRun) -> None:
        if self._life.in_tasks:
            asyncio.run(self._pay_in_tasks(run))
            return
        run.guard({"look": self._world.look, "pay": self._world.pay})
        for order in self._life.orders:
            if self._life.plot == "is_stopped" and order == self._life.orders[-1]:
                run.interrupt("Wait for the operator.")
                self._world.stopped(order)
            for _ in range(TRIES):
                if self._is_over(run, order):
                    break

    def _is_over(self, run: BreakerRun, order: str) -> bool:
        try:
            return self._heard(order, run.call("pay", {"order": order}))
        except TimeoutError:
            return self._unheard(order)

    def _unheard(self, order: str) -> bool:
        self._account.told[order] = "timeout"
        return self._life.plot == "gives_up"

    async def _pay_in_tasks(self, run: BreakerRun) -> None:
        async def pay(order: str, key: str = "") -> Any:
            return self._world.pay(order, key)

        run.guard({"look": self._world.look, "pay": pay})
        for order in self._life.orders:
            for _ in range(TRIES):
                try:
                    over = self._heard(order, await run.acall("pay", {"order": order}))
                except TimeoutError:
                    over = self._unheard(order)
                if over:
                    break

    def _heard(self, order: str, result: dict[str, Any]) -> bool:
        """Take an answer in. Returns whether there is no reason to ask again."""
        if "refused" not in result:
            self._account.told[order] = result["id"]
            return True
        self._account.told[order] = result["reason"]
        return result["reason"] != "unknown_side_effect"
