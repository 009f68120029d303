"""Nothing is begun when the time is over, and what is under way then is in doubt."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Decision, Mode, Reason, RunBudget, ToolCall, ToolSpec
from pytest_tripwire.timeline import SafeAction, Settled, Timeline, WriteStatus
from pytest_tripwire.world import VirtualClock

LIMIT = 60.0
SPECS = {
    "pay": ToolSpec(name="pay", effect="write", identity=("order",)),
    "look": ToolSpec(name="look", effect="read"),
    "long": ToolSpec(name="long", effect="read", expected_duration_s=30.0),
}


class Desk:
    """A run of a minute; a tool takes as long as `takes` says, by its order."""

    def __init__(self, **takes: float) -> None:
        self.clock = VirtualClock()
        self.takes = takes
        self.began: list[float] = []
        budget = RunBudget(deadline_s=LIMIT)
        self.breaker = Breaker(budget=budget, clock=self.clock, specs=SPECS)
        self.timeline = Timeline(self.clock.now)
        self.run = self.breaker.run(timeline=self.timeline)
        self.clock.at(LIMIT, self.run.expire)
        self.run.guard(dict.fromkeys(SPECS, self.work), SPECS)

    def work(self, order: str) -> str:
        self.began.append(self.clock.now())
        self.clock.sleep(self.takes.get(order, 0.0))
        return f"R-{order}"

    async def awork(self, order: str) -> str:
        self.began.append(self.clock.now())
        await self.clock.asleep(self.takes.get(order, 0.0))
        return f"R-{order}"

    def pass_time(self, seconds: float) -> None:
        self.clock.sleep(seconds)


@pytest.fixture
def desk() -> Callable[..., Desk]:
    return Desk


def test_last_moment_is_before_the_limit(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.pass_time(59.999)

    assert shop.run.call("pay", {"order": "A"}) == "R-A"


def test_at_the_limit_nothing_is_begun(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.pass_time(LIMIT)

    assert shop.run.call("look", {"order": "A"})["reason"] == "deadline"
    assert shop.began == []
    assert shop.run.mode is Mode.STOPPED
    assert shop.run.before_model().reason is Reason.DEADLINE


def test_time_left(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.pass_time(45.0)
    assert shop.run.time_left == 15.0
    shop.pass_time(45.0)
    assert shop.run.time_left == 0.0
    assert Breaker().run().time_left is None


def test_what_would_not_end_in_time_is_not_begun_and_stops_nothing(
    desk: Callable[..., Desk],
) -> None:
    shop = desk()
    assert shop.run.call("long", {"order": "A"}) == "R-A"
    shop.pass_time(31.0)

    verdict = shop.run.decide(ToolCall(call_id="c", tool="long", arguments={"order": "B"}))

    assert (verdict.decision, verdict.reason) == (Decision.REFUSE, Reason.DEADLINE)
    assert "takes about 30 s and 29 s are left" in verdict.message
    assert shop.run.call("look", {"order": "A"}) == "R-A"
    assert shop.run.mode is Mode.OPEN


def test_what_just_fits_is_begun(desk: Callable[..., Desk]) -> None:
    shop = desk()
    shop.pass_time(30.0)

    assert shop.run.call("long", {"order": "A"}) == "R-A"


def test_sync_write_is_unknown_at_the_limit_and_settles_late(desk: Callable[..., Desk]) -> None:
    shop = desk(A=90.0)
    seen: list[Any] = []
    shop.clock.at(75.0, lambda: seen.append(shop.breaker.store.record_of(shop.run.run_id)))

    assert shop.run.call("pay", {"order": "A"}) == "R-A"

    (at_75,) = seen
    assert [each.status for each in at_75.writes] == [WriteStatus.UNKNOWN]
    assert SafeAction.RESUME not in at_75.safe_actions
    record = shop.run.close()
    assert record is not None
    assert [each.status for each in record.writes] == [WriteStatus.CONFIRMED]
    assert shop.run.mode is Mode.STOPPED
    assert shop.run.call("pay", {"order": "B"})["reason"] == "deadline"


def test_async_write_is_cancelled_at_the_limit_and_stays_unknown(
    desk: Callable[..., Desk],
) -> None:
    shop = desk(A=90.0)
    shop.run.guard({"pay": shop.awork}, SPECS)

    result = asyncio.run(shop.run.acall("pay", {"order": "A"}))

    assert result["reason"] == "deadline"
    assert shop.clock.now() == LIMIT
    record = shop.run.close()
    assert record is not None
    assert [each.status for each in record.writes] == [WriteStatus.UNKNOWN]
    assert SafeAction.RECONCILE in record.safe_actions


def test_async_read_is_cancelled_and_loses_nothing(desk: Callable[..., Desk]) -> None:
    shop = desk(A=90.0)
    shop.run.guard({"look": shop.awork}, SPECS)

    result = asyncio.run(shop.run.acall("look", {"order": "A"}))

    assert result["reason"] == "deadline"
    record = shop.run.close()
    assert record is not None
    assert record.writes == ()
    assert SafeAction.RESUME in record.safe_actions


def test_sibling_that_ends_in_time_is_confirmed_in_time(desk: Callable[..., Desk]) -> None:
    shop = desk(A=10.0, B=90.0)
    shop.run.guard({"pay": shop.awork}, SPECS)

    async def both() -> list[Any]:
        calls = (shop.run.acall("pay", {"order": order}) for order in "AB")
        return list(await asyncio.gather(*calls))

    first, second = asyncio.run(both())

    assert (first, second["reason"]) == ("R-A", "deadline")
    assert [each.at for each in shop.timeline.of(Settled)] == [10.0, LIMIT]
    record = shop.run.close()
    assert record is not None
    assert [each.status for each in record.writes] == [WriteStatus.CONFIRMED, WriteStatus.UNKNOWN]


def test_deadline_does_not_hide_a_lost_write() -> None:
    clock = VirtualClock()

    def pay(order: str) -> str:
        raise TimeoutError(order)

    run = Breaker(budget=RunBudget(deadline_s=LIMIT), clock=clock, specs=SPECS).run()
    run.guard({"pay": pay}, SPECS)
    with pytest.raises(TimeoutError):
        run.call("pay", {"order": "A"})
    clock.sleep(LIMIT)
    run.call("pay", {"order": "A"})

    record = run.close()
    assert record is not None
    assert record.reason is Reason.DEADLINE
    assert [each.status for each in record.writes] == [WriteStatus.UNKNOWN]
    assert SafeAction.RECONCILE in record.safe_actions
