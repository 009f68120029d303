"""A read that settles a write may not ask for the write itself without end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, BreakerRun, Mode, ToolSpec

SPECS = {
    "pay": ToolSpec(
        name="pay", effect="write", identity=("order",), result_id="id", reconcile="look"
    ),
    "look": ToolSpec(name="look", effect="read", identity=("order",)),
}


class Bank:
    """Loses the answer of its first payment, and pays whenever somebody looks."""

    def __init__(self, run: BreakerRun) -> None:
        self.run = run
        self.paid: list[str] = []
        self.looked = 0
        self.inner: list[Any] = []

    def pay(self, order: str) -> dict[str, str]:
        self.paid.append(order)
        if len(self.paid) == 1:
            raise TimeoutError
        return {"id": "P-2"}

    def look(self, order: str) -> dict[str, str]:
        self.looked += 1
        self.inner.append(self.run.call("pay", {"order": order}))
        return {"id": "P-1"}

    async def look_later(self, order: str) -> dict[str, str]:
        self.looked += 1
        self.inner.append(await self.run.acall("pay", {"order": order}))
        return {"id": "P-1"}


def lost(bank: Bank, look: Any) -> None:
    bank.run.guard({"pay": bank.pay, "look": look}, SPECS)
    with pytest.raises(TimeoutError):
        bank.run.call("pay", {"order": "A"})


def settled(bank: Bank, answer: Any) -> None:
    assert answer["reason"] == "duplicate_write"
    assert answer["result"] == {"id": "P-1"}
    assert bank.looked == 1
    assert [each["reason"] for each in bank.inner] == ["unknown_side_effect"]
    assert bank.paid == ["A"]
    assert bank.run.mode is Mode.OPEN


def test_sync() -> None:
    with Breaker().run() as run:
        bank = Bank(run)
        lost(bank, bank.look)
        settled(bank, run.call("pay", {"order": "A"}))


def test_async() -> None:
    async def go(run: BreakerRun) -> None:
        bank = Bank(run)
        lost(bank, bank.look_later)
        settled(bank, await run.acall("pay", {"order": "A"}))

    with Breaker().run() as run:
        asyncio.run(go(run))
