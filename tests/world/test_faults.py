"""Each kind of misbehaviour over a tool: what the caller gets, and what the timeline tells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pytest_tripwire.guard.calling import failed
from pytest_tripwire.timeline import Delivery, Dispatch, Mutation, Status, Timeline, WorldEvent
from pytest_tripwire.world import Records, Slots, Stage, Toolset, VirtualClock
from pytest_tripwire.world import desk as support_desk
from pytest_tripwire.world.faults import (
    Denial,
    Empty,
    ErrorAfter,
    ErrorBefore,
    Fault,
    LateAnswer,
    LostAnswer,
    NotAcceptedError,
    PartialFailure,
    PolicyDeniedError,
    RateLimit,
    RateLimitedError,
    Slow,
    StaleRead,
)

OPERATIONS = (support_desk.WRITE, support_desk.READ, support_desk.EDIT, support_desk.SEARCH)
PAY: dict[str, Any] = {"order_id": "A-1", "amount": 40.0, "reason": "x", "request_id": "r"}
READ: dict[str, Any] = {"order_id": "A-1"}
SEARCH: dict[str, Any] = {"topic": "lamp", "query": "x"}


class Scene:
    """One business with faults, and its tools called by one road."""

    def __init__(self, road: str, *faults: Fault) -> None:
        self.road = road
        self.clock = VirtualClock()
        self.timeline = Timeline(self.clock.now)
        self.heard: list[tuple[str, Slots]] = []
        records = Records()
        support_desk.open_order(records, "A-1")
        support_desk.open_topic(records, "lamp", "one", "two")
        stage = Stage(
            records=records,
            clock=self.clock,
            faults=faults,
            events=self.timeline.writer(WorldEvent),
            heard=lambda operation, slots: self.heard.append((operation.role, slots)),
        )
        self.toolset = Toolset(operations=OPERATIONS, roles={}, stage=stage)

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """What a call gives; its error, if it raises one."""
        function = self.toolset.functions[tool]
        try:
            if self.road == "async":
                return asyncio.run(function.start(**arguments).arun())  # type: ignore[attr-defined]
            return function(**arguments)
        except Exception as error:  # noqa: BLE001 - what it raises is what is asked about
            return error

    def told(self) -> list[str]:
        """What was sent, what changed and what callers were told, in order, with its time."""
        return [_short(event) for event in self.timeline.of(WorldEvent)]


def _short(event: WorldEvent) -> str:
    match event:
        case Dispatch():
            return f"{event.at:g} sent {event.role}"
        case Mutation():
            return f"{event.at:g} changed to {event.version}"
        case Delivery():
            return f"{event.at:g} told {event.told}"
    raise AssertionError(event)


@pytest.fixture(params=["sync", "async"])
def scene(request: pytest.FixtureRequest) -> Callable[..., Scene]:
    return lambda *faults: Scene(request.param, *faults)


Make = Callable[..., Scene]


def test_without_a_fault(scene: Make) -> None:
    desk = scene()

    assert desk.call("issue_refund", PAY) == {
        "refund_id": "R-A-1-1",
        "order_id": "A-1",
        "amount": 40.0,
    }
    assert desk.told() == ["0 sent write", "0 changed to 2", "0 told ok"]


def test_empty_keeps_the_shape(scene: Make) -> None:
    desk = scene(Empty(role="search", calls=(1,)))

    assert desk.call("search_articles", SEARCH) == {"articles": []}
    assert desk.call("search_articles", SEARCH) == {"articles": ["one"]}
    assert desk.told() == ["0 sent search", "0 told empty", "0 sent search", "0 told ok"]


def test_lost_answer_lands_and_times_out(scene: Make) -> None:
    desk = scene(LostAnswer(role="write"))

    error = desk.call("issue_refund", PAY)

    assert isinstance(error, TimeoutError)
    assert desk.told() == ["0 sent write", "0 changed to 2", "30 told lost"]


def test_late_answer_lands_at_once(scene: Make) -> None:
    desk = scene(LateAnswer(role="write", after_s=20.0))

    assert desk.call("issue_refund", PAY)["refund_id"] == "R-A-1-1"
    assert desk.told() == ["0 sent write", "0 changed to 2", "20 told ok"]


def test_denial_names_its_rule(scene: Make) -> None:
    desk = scene(Denial(role="write", rule="refund-window"))

    error = desk.call("issue_refund", PAY)

    assert isinstance(error, PolicyDeniedError)
    assert error.rule == "refund-window"
    assert desk.told() == ["0 sent write", "0 told denied"]


def test_error_before_proves_that_nothing_happened(scene: Make) -> None:
    desk = scene(ErrorBefore(role="write"))

    assert isinstance(desk.call("issue_refund", PAY), NotAcceptedError)
    assert desk.told() == ["0 sent write", "0 told error"]


def test_error_after_proves_nothing(scene: Make) -> None:
    desk = scene(ErrorAfter(role="write"))

    assert isinstance(desk.call("issue_refund", PAY), ConnectionError)
    assert desk.told() == ["0 sent write", "0 changed to 2", "0 told lost"]


def test_stale_read_says_what_the_first_read_said(scene: Make) -> None:
    desk = scene(StaleRead(role="read", calls=(2,)))
    edit = {"order_id": "A-1", "field": "status", "value": "closed"}

    first = desk.call("get_order", READ)
    desk.call("set_order_field", edit)
    stale = desk.call("get_order", READ)
    fresh = desk.call("get_order", READ)

    assert stale == first
    assert (fresh["status"], fresh["version"]) == ("closed", 2)
    versions = [each.version for each in desk.timeline.of(Delivery)]
    assert versions == [1, 0, 0, 2], "who was told something old was not shown the record"


def test_stale_read_is_one_of_the_same_tool(scene: Make) -> None:
    desk = scene(StaleRead(role="read", calls=(2,)))
    desk.call("issue_refund", PAY)

    first, stale = (desk.call("get_order", READ) for _ in range(2))

    assert stale == first
    assert stale["version"] == 2


def test_partial_failure_gives_half_and_says_so(scene: Make) -> None:
    desk = scene(PartialFailure(role="read"))
    for _ in range(4):
        desk.call("issue_refund", PAY)

    order = desk.call("get_order", READ)

    assert order["partial"] is True
    assert len(order["refunds"]) == 2
    assert desk.told()[-1] == "0 told ok"


def test_rate_limit_says_when_to_come_back(scene: Make) -> None:
    desk = scene(RateLimit(role="search", calls=(1, 2), retry_after=7.0))

    errors = [desk.call("search_articles", SEARCH) for _ in range(3)]

    assert [getattr(error, "retry_after", None) for error in errors] == [7.0, 7.0, None]
    assert isinstance(errors[0], RateLimitedError)
    assert desk.told()[:2] == ["0 sent search", "0 told error"]


def test_slow_acts_only_after_its_time(scene: Make) -> None:
    desk = scene(Slow(role="write", before_s=90.0))

    assert desk.call("issue_refund", PAY)["refund_id"] == "R-A-1-1"
    assert desk.told() == ["0 sent write", "90 changed to 2", "90 told ok"]


# -- any of them

ALL: Sequence[Fault] = (
    Empty(role="search", calls=(2,)),
    LostAnswer(role="search", calls=(2,)),
    LateAnswer(role="search", calls=(2,), after_s=1.0),
    Denial(role="search", calls=(2,), rule="r"),
    ErrorBefore(role="search", calls=(2,)),
    ErrorAfter(role="search", calls=(2,)),
    StaleRead(role="search", calls=(2,)),
    PartialFailure(role="search", calls=(2,)),
    RateLimit(role="search", calls=(2,)),
    Slow(role="search", calls=(2,), before_s=1.0),
)
each_fault = pytest.mark.parametrize("fault", ALL, ids=lambda fault: type(fault).__name__)


def test_there_are_ten() -> None:
    assert len({type(fault) for fault in ALL}) == 10


@each_fault
def test_hits_the_calls_that_it_names_and_no_other_role(scene: Make, fault: Fault) -> None:
    desk = scene(fault)

    first = desk.call("search_articles", SEARCH)
    desk.call("search_articles", SEARCH)
    third = desk.call("search_articles", SEARCH)
    order = desk.call("get_order", READ)

    assert first == third == {"articles": ["one"]}
    assert order["order_id"] == "A-1"
    told = [each.told for each in desk.timeline.of(Delivery)]
    assert (told[0], told[2], told[3]) == ("ok", "ok", "ok")


@each_fault
def test_every_dispatch_has_its_delivery(scene: Make, fault: Fault) -> None:
    desk = scene(fault)
    for _ in range(3):
        desk.call("search_articles", SEARCH)

    sent = [each.seq for each in desk.timeline.of(Dispatch)]
    assert [each.dispatch for each in desk.timeline.of(Delivery)] == sent


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (LostAnswer(role="write"), Status.UNKNOWN),
        (ErrorAfter(role="write"), Status.UNKNOWN),
        (ErrorBefore(role="write"), Status.DEFINITE),
        (RateLimit(role="write"), Status.DEFINITE),
        (Denial(role="write", rule="r"), Status.DENIED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, tuple) else None,
)
def test_breaker_takes_the_error_for_what_it_proves(fault: Fault, status: Status) -> None:
    desk = Scene("sync", fault)

    error = desk.call("issue_refund", PAY)

    changed = bool(desk.timeline.of(Mutation))
    assert failed(error, desk.toolset.specs()["issue_refund"]).status is status
    assert changed is (status is Status.UNKNOWN)


def test_what_never_happened_is_heard_of_by_nobody() -> None:
    desk = Scene("sync", ErrorBefore(role="write", calls=(1,)))
    for _ in range(2):
        desk.call("issue_refund", PAY)

    assert [role for role, _slots in desk.heard] == ["write"]
