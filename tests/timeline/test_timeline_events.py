"""The timeline orders what happened, keeps its writers apart, and survives JSON."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, get_args

import msgspec
import pytest

from pytest_tripwire.timeline import (
    AnyEvent,
    BreakerEvent,
    BudgetAlert,
    ChildBegun,
    CircuitOpened,
    Decided,
    Decision,
    Delivery,
    Dispatch,
    Effect,
    Event,
    ExternalChange,
    Finished,
    Mode,
    ModeChange,
    ModelRequest,
    Mutation,
    Nudged,
    Reason,
    Reconciled,
    Resumption,
    Settled,
    Status,
    Timeline,
    WorldEvent,
    WriteStatus,
    from_json,
    to_json,
)


@pytest.fixture
def threads_switch_often() -> Iterator[None]:
    # With the usual 5 ms a thread does all its work in one go, and nothing is tested.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


WORLD: list[WorldEvent] = [
    Dispatch(tool="pay", role="write", effect=Effect.WRITE, resource="order A-1"),
    Delivery(dispatch=1, told="lost", note="\u00e9"),
    Delivery(dispatch=1, told="ok", version=3),
    Mutation(dispatch=1, resource="order A-1", version=2),
    ExternalChange(resource="order A-1", version=3, note="a colleague corrected the total"),
    Resumption(decision="approved"),
    ModelRequest(conversation="c", turn=3, says="proposes write"),
    ModelRequest(
        conversation="c",
        turn=4,
        says="answers",
        prompt_tokens=300,
        completion_tokens=20,
        cost_usd=Decimal("0.19"),
    ),
]
BREAKER: list[BreakerEvent] = [
    Decided(call_id="1", tool="pay", decision=Decision.ALLOW, reason=None, mode=Mode.OPEN),
    Decided(
        call_id="2",
        tool="pay",
        decision=Decision.INTERRUPT,
        reason=Reason.DEADLINE,
        mode=Mode.STOPPED,
    ),
    Settled(call_id="1", tool="pay", status=Status.UNKNOWN),
    Reconciled(tool="pay", status=WriteStatus.CONFIRMED),
    ModeChange(reason=Reason.UNKNOWN_SIDE_EFFECT, mode=Mode.READ_ONLY),
    BudgetAlert(name="max_turns", spent=8.0, limit=10.0),
    CircuitOpened(circuit="pay", reason=Reason.CIRCUIT_OPEN, errors=5, evidence=(2, 3)),
    ChildBegun(run_id="run-1", child="run-2", agent="billing"),
    Nudged(call_id="3", reason=Reason.EMPTY_RESULTS, run_id="run-1", shadow=True),
    Finished(state="needs_input", detail="purchase date"),
]


def timeline() -> Timeline:
    ticks = iter(range(1000))
    return Timeline(lambda: float(next(ticks)))


def test_every_kind_of_event_is_in_these_examples() -> None:
    assert {type(event) for event in [*WORLD, *BREAKER]} == set(get_args(AnyEvent))


@pytest.mark.parametrize("event", [*WORLD, *BREAKER], ids=lambda event: type(event).__name__)
def test_json_and_back_is_the_same_event(event: Any) -> None:
    stamped = msgspec.structs.replace(event, seq=7, at=1.25)

    (back,) = from_json(to_json([stamped]))

    assert back == stamped
    assert type(back) is type(stamped)


def test_events_are_numbered_and_timed_over_both_writers() -> None:
    line = timeline()
    world, breaker = line.writer(WorldEvent), line.writer(BreakerEvent)

    numbers = [world.append(WORLD[0]), breaker.append(BREAKER[0]), world.append(WORLD[1])]

    assert numbers == [1, 2, 3]
    assert [(event.seq, event.at) for event in line.events()] == [(1, 0.0), (2, 1.0), (3, 2.0)]
    assert [type(event) for event in line.events()] == [Dispatch, Decided, Delivery]
    assert line.of(Delivery) == (line.events()[2],)
    assert len(line.of(WorldEvent)) == 2
    assert WORLD[0].seq == 0


def test_numbers_given_by_the_writer_of_an_event_do_not_count() -> None:
    line = timeline()

    line.writer(WorldEvent).append(msgspec.structs.replace(WORLD[0], seq=99, at=99.0))

    assert [(event.seq, event.at) for event in line.events()] == [(1, 0.0)]


@pytest.mark.parametrize("event", BREAKER, ids=lambda event: type(event).__name__)
def test_the_worlds_writer_refuses_what_the_breaker_says(event: BreakerEvent) -> None:
    line = timeline()

    with pytest.raises(TypeError, match=f"{type(event).__name__} is not a WorldEvent"):
        line.writer(WorldEvent).append(event)  # type: ignore[type-var]

    assert line.events() == ()


@pytest.mark.parametrize("event", WORLD, ids=lambda event: type(event).__name__)
def test_the_breakers_writer_refuses_what_the_world_says(event: WorldEvent) -> None:
    line = timeline()

    with pytest.raises(TypeError, match=f"{type(event).__name__} is not a BreakerEvent"):
        line.writer(BreakerEvent).append(event)  # type: ignore[type-var]

    assert line.events() == ()


def test_a_writer_refuses_what_is_no_event() -> None:
    with pytest.raises(TypeError, match="str is not a WorldEvent"):
        timeline().writer(WorldEvent).append("dispatch")  # type: ignore[type-var]


@pytest.mark.usefixtures("threads_switch_often")
def test_numbers_have_no_gap_and_no_double_under_threads() -> None:
    line = Timeline(lambda: 0.0)
    gate = threading.Barrier(16)
    given: list[list[int]] = [[] for _ in range(16)]

    def work(mine: list[int], writer: Any, event: Event) -> None:
        gate.wait(20)
        mine.extend(writer.append(event) for _ in range(50))

    threads = [
        threading.Thread(
            target=work,
            args=(
                given[n],
                line.writer((WorldEvent, BreakerEvent)[n % 2]),
                (WORLD, BREAKER)[n % 2][0],
            ),
        )
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert sorted(number for mine in given for number in mine) == list(range(1, 801))
    assert [event.seq for event in line.events()] == list(range(1, 801))
    assert all(mine == sorted(mine) for mine in given)


def test_an_event_that_is_being_stamped_cannot_be_overtaken() -> None:
    others: list[threading.Thread] = []

    def slow_now() -> float:
        if not others:
            others.append(threading.Thread(target=writer.append, args=(WORLD[1],)))
            others[0].start()
            others[0].join(0.05)
        return 0.0

    line = Timeline(slow_now)
    writer = line.writer(WorldEvent)
    assert writer.append(WORLD[0]) == 1
    others[0].join(20)

    assert [(event.seq, type(event)) for event in line.events()] == [(1, Dispatch), (2, Delivery)]


def test_events_are_a_snapshot() -> None:
    line = timeline()
    before = line.events()
    line.writer(WorldEvent).append(WORLD[0])

    assert before == ()


def test_text_that_no_encoding_can_hold_does_not_break_the_json() -> None:
    hostile = Decided(
        call_id="\ud800",
        tool="pay\udfff",
        decision=Decision.REFUSE,
        reason=Reason.INVALID_ARGUMENTS,
        mode=Mode.OPEN,
    )

    back = from_json(to_json([hostile, BREAKER[2]]))  # type: ignore[list-item]

    assert back[0] == msgspec.structs.replace(hostile, call_id="?", tool="pay?")
    assert back[1] == BREAKER[2]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'[{"type": "dispatch"}]',
        b'[{"type": "unheard_of"}]',
        b'[{"seq": 1}]',
        b'[{"type": "mode", "reason": "bad weather", "mode": "open"}]',
    ],
)
def test_anything_else_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        from_json(data)


def test_events_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        WORLD[0].seq = 5  # type: ignore[misc]
