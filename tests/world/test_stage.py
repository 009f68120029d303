"""What happens on the stage, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pytest_tripwire.timeline import Delivery, Dispatch, Effect, Mutation
from pytest_tripwire.world import Operation, UnknownRecordError
from pytest_tripwire.world.desk import STATUS, WRITE
from pytest_tripwire.world.faults import LostAnswer
from pytest_tripwire.world.roles import AMOUNT, RESOURCE

Make = Callable[..., Any]
SLOTS = {RESOURCE: "A-1", AMOUNT: 40}


def pay(world: Any, operation: Operation = WRITE, **slots: Any) -> Any:
    return world.stage.enter(operation, "pay", {**SLOTS, **slots})()


def test_a_write_is_dispatched_then_lands_then_is_answered(world: Make) -> None:
    there = world()

    result = pay(there)

    assert result == {"refund_id": "R-A-1-1", "order_id": "A-1", "amount": 40}
    assert there.told() == (
        Dispatch(seq=1, tool="pay", role="write", effect=Effect.WRITE, resource="order A-1"),
        Mutation(seq=2, dispatch=1, resource="order A-1", version=2, note="refund 1 of this order"),
        Delivery(seq=3, dispatch=1, told="ok"),
    )


def test_a_read_changes_nothing(world: Make) -> None:
    there = world()

    assert pay(there, STATUS) == {"order_id": "A-1", "refund_id": None}
    assert [type(each) for each in there.told()] == [Dispatch, Delivery]
    assert there.records.get("order A-1").version == 1


def test_the_dispatch_is_told_before_the_work_is_done(world: Make) -> None:
    there = world()

    rest = there.stage.enter(WRITE, "pay", SLOTS)

    assert [type(each) for each in there.told()] == [Dispatch]
    rest()
    assert len(there.told()) == 3


def test_a_lost_answer_lands_exactly_once(world: Make) -> None:
    there = world(LostAnswer(role="write"))

    with pytest.raises(TimeoutError, match="no answer within 30 s"):
        pay(there)

    assert there.records.get("order A-1").fields["refunds"] == [40]
    assert [type(each) for each in there.told()] == [Dispatch, Mutation, Delivery]
    lost = there.told()[-1]
    assert (lost.dispatch, lost.told, lost.note, lost.at) == (1, "lost", "TimeoutError", 30.0)


def test_only_the_call_that_it_is_laid_over_is_lost(world: Make) -> None:
    there = world(LostAnswer(role="write", calls=(2,), after_s=5))

    pay(there)
    with pytest.raises(TimeoutError, match="no answer within 5 s"):
        pay(there)
    pay(there)
    pay(there, STATUS)

    told = [each.told for each in there.told() if isinstance(each, Delivery)]
    assert told == ["ok", "lost", "ok", "ok"]
    assert there.records.get("order A-1").fields["refunds"] == [40, 40, 40]


def test_a_tool_that_fails_is_told_as_an_error(world: Make) -> None:
    there = world()

    with pytest.raises(UnknownRecordError):
        pay(there, **{RESOURCE: "no such order"})

    _, failed = there.told()
    assert (failed.told, failed.note) == ("error", "UnknownRecordError")


def test_a_tool_that_fails_beneath_a_fault_has_failed_and_was_not_lost(world: Make) -> None:
    there = world(LostAnswer(role="write"))

    with pytest.raises(UnknownRecordError):
        pay(there, **{RESOURCE: "no such order"})

    _, failed = there.told()
    assert (failed.told, failed.note) == ("error", "UnknownRecordError")
    assert there.clock.now() == 0


@pytest.mark.parametrize("operation", [WRITE, STATUS], ids=lambda each: each.role)
def test_a_name_that_the_business_does_not_know_is_shown_as_a_fingerprint(
    world: Make, operation: Operation
) -> None:
    secret = "sk-live-51H8 \udcff hunter2"
    there = world()

    for _ in range(2):
        with pytest.raises(UnknownRecordError) as raised:
            pay(there, operation, **{RESOURCE: secret})

    assert secret not in repr(there.told())
    assert "hunter2" not in str(raised.value)
    first, _, second, _ = there.told()
    # The same name is the same fingerprint: reports can tell one such record from another.
    assert first.resource == second.resource
    assert first.resource.startswith("order #")


def test_parallel_calls_each_get_their_place(world: Make) -> None:
    there = world(LostAnswer(role="write", calls=(50,)))

    def one(_: int) -> str:
        try:
            return str(pay(there)["refund_id"])
        except TimeoutError:
            return "lost"

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(one, range(100)))

    assert answers.count("lost") == 1
    seqs = [each.seq for each in there.told()]
    assert seqs == list(range(1, 301))
    told = [each for each in there.told() if isinstance(each, Delivery)]
    assert len({each.dispatch for each in told}) == 100
