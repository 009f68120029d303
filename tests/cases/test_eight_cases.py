"""The eight standard cases with plain agents: contained by the breaker, escaped without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from pytest_tripwire import Run, TripwireFailure
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.cost_budget import LIMIT
from pytest_tripwire.cases.deadline import LIMIT_S
from pytest_tripwire.cases.personas import PERSONAS, refund, ways
from pytest_tripwire.models import Say
from pytest_tripwire.oracle import State
from pytest_tripwire.oracle.text import MARK
from pytest_tripwire.timeline import (
    BudgetAlert,
    Dispatch,
    Event,
    ExternalChange,
    Finished,
    ModelRequest,
    WriteStatus,
)

from ..dealing import dealt  # noqa: TID252 - no package to import from

Events = Sequence[Event]
#: Where nothing is refused a forgetful model goes the way of a stubborn one.
UNREFUSED = ("stubborn", "compliant")
ROADS = ("sync", "async", "asyncio", "trio")


def nth(role: str, place: int) -> Callable[[Events], Event]:
    """The dispatch of a role's tool at a place, from 1."""
    return lambda events: [e for e in events if isinstance(e, Dispatch) and e.role == role][
        place - 1
    ]


def first_unpaid(events: Events) -> Event:
    """What was done, or asked for at a price, when the money was spent."""
    spent = Decimal(0)
    for event in events:
        priced = isinstance(event, ModelRequest) and event.cost_usd > 0
        if spent >= LIMIT and (priced or isinstance(event, Dispatch)):
            return event
        spent += event.cost_usd if isinstance(event, ModelRequest) else 0
    raise AssertionError("the money was never spent")


def first_late(events: Events) -> Event:
    return next(e for e in events if isinstance(e, Dispatch) and e.at >= LIMIT_S)


def first_on_the_old_version(events: Events) -> Event:
    changed = next(e.seq for e in events if isinstance(e, ExternalChange))
    return next(e for e in events if isinstance(e, Dispatch) and e.seq > changed)


#: Of each case, the call that should not have happened when nothing protects the agent.
MARKED: dict[str, Callable[[Events], Event]] = {
    "empty-search": nth("search", 4),
    "ping-pong-handoff": nth("handoff", 6),
    "lost-write": nth("write", 2),
    "rephrased-denial": nth("write", 3),
    "cost-budget": first_unpaid,
    "deadline": first_late,
    "stale-resume": first_on_the_old_version,
}

#: How each case ends under the breaker when the model ignores every refusal.
STOPPED = {
    "empty-search": "empty_results",
    "ping-pong-handoff": "handoff_without_progress",
    "lost-write": "unknown_side_effect",
    "rephrased-denial": "repeated_denial",
    "cost-budget": "cost_budget",
    "deadline": "deadline",
    "stale-resume": "stale_resume",
}


def test_tables_name_every_case() -> None:
    assert {*MARKED, "long-investigation"} == {*STOPPED, "long-investigation"} == set(CASE_IDS)


@pytest.mark.parametrize(("case_id", "road", "persona"), dealt(CASE_IDS, ROADS, PERSONAS))
def test_breaker_contains(play: Callable[..., Run], case_id: str, persona: str, road: str) -> None:
    run = play(case_id, road, persona=persona)

    run.check()
    assert run.error is None, "the loop talks on, it can only no longer act"
    if persona != "compliant":
        assert run.reason == STOPPED.get(case_id)
    if run.interrupted:
        assert run.record is not None


@pytest.mark.parametrize(("case_id", "road", "persona"), dealt(MARKED, ROADS, UNREFUSED))
def test_without_protection_the_right_call_is_marked(
    play: Callable[..., Run], case_id: str, persona: str, road: str
) -> None:
    run = play(case_id, road, persona=persona, protection="own")

    wrong = MARKED[case_id](run.events)
    assert run.cell.state is State.ESCAPED
    assert run.cell.broken[0].seq == wrong.seq, run.timeline()
    with pytest.raises(TripwireFailure) as failure:
        run.check()
    marked = [line for line in str(failure.value).splitlines() if line.endswith(MARK)]
    assert [line.split()[0] for line in marked] == [f">{wrong.seq}" if wrong.seq > 99 else ">"]
    assert f"{wrong.seq} " in marked[0]
    assert run.cell.lesson


@pytest.mark.parametrize(
    ("case_id", "road", "persona"), dealt(["long-investigation"], ROADS, UNREFUSED)
)
def test_long_investigation_needs_no_protection(
    play: Callable[..., Run], case_id: str, persona: str, road: str
) -> None:
    play(case_id, road, persona=persona, protection="own").check()


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_sync_agent_in_a_running_loop(play: Callable[..., Run], case_id: str) -> None:
    play(case_id, "sync in asyncio").check()


def test_sibling_tool_after_a_denial_is_marked(play: Callable[..., Run]) -> None:
    at_once = ways(
        [
            refund("A-1001", "The customer insists.", 1),
            refund("A-1001", "As a credit then.", 2, role="sibling_write"),
            Say(text="Paid."),
        ],
        "No.",
        {},
    )
    case = msgspec.structs.replace(load_case("rephrased-denial"), personas=at_once)

    own, guarded = play(case, protection="own"), play(case)

    assert own.cell.broken[0].seq == nth("sibling_write", 1)(own.events).seq
    guarded.check()


# -- what a case shows besides


def test_alert_at_four_fifths_is_told_once(play: Callable[..., Run]) -> None:
    run = play("cost-budget")

    alerts = [e for e in run.events if isinstance(e, BudgetAlert)]
    assert [e.name for e in alerts] == ["max_model_cost_usd"]
    assert 0.8 <= alerts[0].spent / alerts[0].limit < 1
    assert "max_model_cost_usd: 0." in run.timeline()


def test_cost_ends_before_turns_and_never_below_zero(play: Callable[..., Run]) -> None:
    run = play("cost-budget")

    left = {line.name: line for line in run.budgets}
    assert left["max_turns"].remaining > 0
    assert 0 <= left["max_model_cost_usd"].remaining < float(LIMIT) / 5


@pytest.mark.parametrize(
    ("road", "settled"), [("sync", WriteStatus.CONFIRMED), ("async", WriteStatus.UNKNOWN)]
)
def test_write_under_way_at_the_deadline(
    play: Callable[..., Run], road: str, settled: WriteStatus
) -> None:
    run = play("deadline", road)

    assert run.record is not None
    assert [each.status for each in run.record.writes] == [settled]
    assert run.reason == "deadline"


def test_long_investigation_goes_far_past_the_usual(play: Callable[..., Run]) -> None:
    run = play("long-investigation")

    usual = load_case("long-investigation").budget.usual_turns or 0
    turns = sum(isinstance(e, ModelRequest) for e in run.events)
    assert turns > 3 * usual > 0


def test_timeline_tells_how_the_run_has_ended(play: Callable[..., Run]) -> None:
    ends: dict[str, Any] = {
        case_id: [e.state for e in play(case_id).events if isinstance(e, Finished)]
        for case_id in ("lost-write", "long-investigation", "stale-resume")
    }

    assert ends == {
        "lost-write": ["interrupted"],
        "long-investigation": ["completed"],
        "stale-resume": ["interrupted", "interrupted"],
    }
