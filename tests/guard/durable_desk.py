"""Processes that share one store: breakers of several owners over it, a desk that pays, a clock."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_tripwire.breaker import Breaker, BreakerRun, ToolSpec, Verdict
from pytest_tripwire.ledger import MemoryLedger, Store, open_store
from pytest_tripwire.timeline import ToolCall

from .. import clock  # noqa: TID252 - no package to import from


class Clock(clock.Clock):
    """The same, as late as a wall would tell."""

    seconds = 1000.0


class Shared:
    """One memory as one of several processes would see a file."""

    durable = True

    def __init__(self, memory: MemoryLedger, owner: str) -> None:
        self._memory = memory
        self.owner = owner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)


class Place:
    """Where stores are: `memory` or `sqlite`; `open` gives that of one process."""

    def __init__(self, kind: str, folder: Path) -> None:
        self._memory = MemoryLedger() if kind == "memory" else None
        self.file = folder / "runs.db"
        self._opened: list[Store] = []

    def open(self, owner: str) -> Any:
        if self._memory is not None:
            return Shared(self._memory, owner)
        store = open_store(self.file, owner=owner)
        self._opened.append(store)
        return store

    def close(self) -> None:
        for each in self._opened:
            each.close()


SPECS = {
    "get": ToolSpec(name="get", effect="read", identity=("order",), result_version="version"),
    "pay": ToolSpec(
        name="pay",
        effect="write",
        identity=("order",),
        result_id="id",
        reconcile="find",
        late_effect_s=0.0,
        requires_approval=True,
    ),
    "find": ToolSpec(name="find", effect="read", identity=("order",)),
}


class Desk:
    """Pays orders; `fates` are those of the next payments, `ok` by default."""

    def __init__(self) -> None:
        self.paid: list[tuple[str, int]] = []
        self.fates: list[str] = []
        self.version = 1

    def get(self, order: str) -> dict[str, Any]:
        return {"order": order, "version": self.version}

    def find(self, order: str) -> dict[str, Any]:
        paid = [number for number, each in enumerate(self.paid, 1) if each[0] == order]
        return {"id": f"P-{paid[-1]}"} if paid else {}

    def pay(self, order: str, amount: int = 10, request_id: str = "") -> dict[str, Any]:
        del request_id
        fate = self.fates.pop(0) if self.fates else "ok"
        if fate != "vanished":
            self.paid.append((order, amount))
        if fate != "ok":
            raise TimeoutError("the answer was lost")
        return {"id": f"P-{len(self.paid)}"}


class Office:
    """Begins processes over one store, one desk and one clock."""

    def __init__(self, place: Place, specs: dict[str, ToolSpec] | None = None) -> None:
        self.place, self.clock, self.desk = place, Clock(), Desk()
        self.specs = specs or SPECS
        self._numbers = itertools.count(1)

    def breaker(self, owner: str, **options: Any) -> Breaker:
        """The breaker of the process `owner`."""
        return Breaker(
            store=self.place.open(owner),
            specs=self.specs,
            clock=self.clock,
            new_id=lambda: f"id-{next(self._numbers)}",
            **options,
        )

    def run(self, breaker: Breaker, **asked: Any) -> BreakerRun:
        """A run about `message-1` of acme, with the tools of the desk."""
        given = {"tenant": "acme", "request_id": "message-1", **asked}
        return self.armed(breaker.run(**given))

    def armed(self, run: BreakerRun) -> BreakerRun:
        run.guard({name: getattr(self.desk, name) for name in self.specs}, self.specs)
        return run


class Asker:
    """Proposes payments under one id each, and makes those that are let through."""

    def __init__(self, office: Office) -> None:
        self._office = office
        self._numbers = itertools.count(1)

    def __call__(self, run: BreakerRun, **arguments: Any) -> tuple[ToolCall, Verdict]:
        call_id = f"c-{next(self._numbers)}"
        call = ToolCall(call_id=call_id, tool="pay", arguments={"order": "A", **arguments})
        return call, run.decide(call)


def swallowed(work: Callable[[], Any]) -> Any:
    """What `work` gives, or the name of its error, as an agent's loop takes it."""
    try:
        return work()
    except TimeoutError as error:
        return type(error).__name__
