"""A payment desk that can lose answers, a clock that waits at once, and breakers over both."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Effect, ToolSpec
from pytest_tripwire.timeline import Timeline


class ManualClock:
    """Seconds that pass only when something waits, or when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)

    async def within(self, seconds: float, work: Awaitable[Any]) -> Any:
        """Nothing takes time here, so nothing is late."""
        del seconds
        return await work


class RejectedError(Exception):
    """The desk's own word that it did nothing."""


class Desk:
    """Pays orders back. `sent` is what reached it, `paid` what it really did.

    A fate is `ok`, `lost` (paid, and the answer is lost), `vanished` (not paid, no answer) or
    `rejected` (not paid, and it says so). Without one, everything goes well.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.paid: list[tuple[Any, ...]] = []
        self.looked: list[Any] = []
        self.fates: list[str] = []
        self.shown: list[Any] = []

    def issue_refund(
        self, order_id: Any, amount: Any = 10, reason: str = "", request_id: str = ""
    ) -> dict[str, Any]:
        """Pay an order back."""
        del reason, request_id  # asked for, and of no weight
        return self._pay("refund", order_id, amount)

    def pay_back(self, order: Any, amount: Any = 10, comment: str = "") -> dict[str, Any]:
        """Pay an order back, by another road."""
        del comment
        return self._pay("refund", order, amount)

    def get_refund(self, order_id: Any) -> Any:
        """What was paid back on an order: what `shown` says, else the truth."""
        self.looked.append(order_id)
        if self.shown:
            shown = self.shown.pop(0)
            if isinstance(shown, Exception):
                raise shown
            return shown
        done = [each for each in self.paid if each[1] == order_id]
        return {"order_id": order_id, "refund_id": f"R-{len(self.paid)}" if done else None}

    def get_customer(self, name: str = "") -> dict[str, Any]:
        """Nothing to do with refunds."""
        self.looked.append(name)
        return {"name": name}

    def _pay(self, *what: Any) -> dict[str, Any]:
        self.sent.append(what)
        fate = self.fates.pop(0) if self.fates else "ok"
        if fate == "rejected":
            raise RejectedError("no such order")
        if fate != "vanished":
            self.paid.append(what)
        if fate != "ok":
            raise TimeoutError("the answer was lost")
        return {"refund_id": f"R-{len(self.paid)}"}


def write(name: str, identity: tuple[str, ...], **declared: Any) -> ToolSpec:
    return ToolSpec(
        name=name,
        effect=Effect.WRITE,
        operation="refund",
        identity=identity,
        definite_failures=(RejectedError,),
        **declared,
    )


class Shop:
    """One breaker over one desk. `run()` begins a run; `tools` are those of the last one."""

    def __init__(self, desk: Desk, clock: ManualClock, **options: Any) -> None:
        declared = options.pop("refund", {})
        self.desk, self.clock = desk, clock
        self.timeline = Timeline(clock.now)
        numbers = itertools.count(1)
        self.breaker = Breaker(clock=clock, new_id=lambda: f"id-{next(numbers)}", **options)
        self.specs = {
            "issue_refund": write("issue_refund", ("order_id",), wording=("reason",), **declared),
            "pay_back": write("pay_back", ("order",), wording=("comment",)),
            "get_refund": ToolSpec(name="get_refund", effect=Effect.READ),
            "get_customer": ToolSpec(name="get_customer", effect=Effect.READ),
        }

    def run(self, tenant: str = "acme", request_id: str = "", **over: Any) -> Any:
        run = self.breaker.run(tenant=tenant, request_id=request_id, timeline=self.timeline)
        tools = {name: getattr(self.desk, name) for name in self.specs}
        run.guard({**tools, **over}, self.specs)
        return run


@pytest.fixture
def threads_switch_often() -> Iterator[None]:
    # With the usual 5 ms a thread does all its work in one go, and nothing is tested.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def make_shop(desk: Desk, clock: ManualClock) -> Callable[..., Shop]:
    """A shop; `refund` declares more about `issue_refund`, the rest is for its `Breaker`."""
    return lambda **options: Shop(desk, clock, **options)


@pytest.fixture
def shop(make_shop: Callable[..., Shop]) -> Shop:
    return make_shop()


@pytest.fixture
def refund() -> Callable[..., Any]:
    """Call `issue_refund` in a run; a lost answer is swallowed as an agent's loop would."""

    def call(run: Any, order_id: Any = "A-1", **arguments: Any) -> Any:
        try:
            return run.call("issue_refund", {"order_id": order_id, **arguments})
        except (TimeoutError, RejectedError) as error:
            return type(error).__name__

    return call
