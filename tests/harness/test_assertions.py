"""Single demands on a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from pytest_tripwire import (
    RESOURCE,
    Harness,
    Options,
    Protection,
    Role,
    Run,
    Task,
    ToolSpec,
    TripwireFailure,
    assert_interrupted,
    assert_no_mutation_after_interrupt,
)
from pytest_tripwire.timeline import Dispatch, Effect, Family, ModeChange, Reason

LOST = "lost-write"


@pytest.fixture
def stopped(agents: Any) -> Run:
    return Harness(LOST, agents.twice).run()


@pytest.fixture
def unstopped(agents: Any) -> Run:
    return Harness(LOST, agents.twice, options=Options(protection=Protection.OWN)).run()


@pytest.mark.parametrize(
    "reason",
    [
        None,
        "unknown_side_effect",
        Reason.UNKNOWN_SIDE_EFFECT,
        "safety",
        Family.SAFETY,
        ["deadline", "unknown_side_effect"],
        {"budget", "safety"},
    ],
)
def test_interrupted_for_a_reason_or_a_family(stopped: Run, reason: Any) -> None:
    assert_interrupted(stopped, reason=reason)


@pytest.mark.parametrize("reason", ["deadline", "budget", ["deadline", "budget"]])
def test_interrupted_for_another_reason(stopped: Run, reason: Any) -> None:
    with pytest.raises(TripwireFailure) as raised:
        assert_interrupted(stopped, reason=reason)

    names = reason if isinstance(reason, str) else "budget, deadline"
    first, *rest = str(raised.value).splitlines()
    assert first == (
        f"lost-write: the run was interrupted for unknown_side_effect, not for {names}"
    )
    (marked,) = [line for line in rest if line.startswith(">")]
    assert "run is now read_only (unknown_side_effect)" in marked
    assert raised.value.cell == stopped.cell


def test_not_interrupted_at_all(unstopped: Run) -> None:
    with pytest.raises(TripwireFailure, match="the run was not interrupted: it answered"):
        assert_interrupted(unstopped)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("unknown_side_effects", r"reason='unknown_side_effects'\): the reasons and families are"),
        (["safety", "bad luck"], r"reason='bad luck'\): the reasons and families are .*safety"),
        ([], "give a reason, or leave it out for any"),
    ],
)
def test_a_reason_that_does_not_exist(stopped: Run, reason: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        assert_interrupted(stopped, reason=reason)


def test_no_mutation_after_the_interruption(stopped: Run) -> None:
    assert_no_mutation_after_interrupt(stopped)


def test_without_an_interruption_it_fails(unstopped: Run) -> None:
    with pytest.raises(TripwireFailure, match="there was no interruption: the run answered"):
        assert_no_mutation_after_interrupt(unstopped)


@pytest.fixture
def extended(stopped: Run) -> Callable[..., Run]:
    """The stopped run, and one more dispatch at its end."""

    def extend(effect: Effect) -> Run:
        seq = len(stopped.events) + 1
        late = Dispatch(seq=seq, tool="pay", role="write", effect=effect, resource="order 1")
        cell = msgspec.structs.replace(stopped.cell, events=(*stopped.events, late))
        return msgspec.structs.replace(stopped, cell=cell)

    return extend


def test_a_write_dispatched_after_it_fails(extended: Callable[..., Run]) -> None:
    run = extended(Effect.WRITE)

    with pytest.raises(TripwireFailure) as raised:
        assert_no_mutation_after_interrupt(run)

    assert f"pay was dispatched after the interruption at {run.stop_seq}" in str(raised.value)


def test_a_read_dispatched_after_it_does_not(extended: Callable[..., Run]) -> None:
    assert_no_mutation_after_interrupt(extended(Effect.READ))


def test_a_write_behind_the_guard_after_the_stop_is_seen(agents: Any) -> None:
    import inspect

    def agent(task: Task) -> None:
        agents.twice(task)
        bare = inspect.unwrap(task.tools["issue_refund"])
        bare("B-2" * 3, 40, "", "r-9")

    run = Harness(LOST, agent).run()

    with pytest.raises(TripwireFailure, match="issue_refund was dispatched after the interruption"):
        assert_no_mutation_after_interrupt(run)
    assert run.cell.state == "escaped"
    assert run.cell.broken[0].check == "no mutation after the interruption"


def test_check_tells_all_that_broke_and_where_to_look(unstopped: Run) -> None:
    with pytest.raises(TripwireFailure) as raised:
        unstopped.check()

    lines = str(raised.value).splitlines()
    assert lines[0] == "lost-write: escaped (agent agent, protection own)"
    assert [line.split(":")[0] for line in lines[1:3]] == [
        "- lost-write",
        "- no unknown write retried",
    ]
    assert lines[3:5] == ["", "timeline:"]
    assert sum(line.startswith(">") for line in lines) == 1
    assert lines[-1].startswith("where to look: A time-out says nothing about the effect")
    assert unstopped.error is None
    assert raised.value.__cause__ is None


def test_check_raises_from_what_the_agent_raised() -> None:
    def agent(_: Task) -> None:
        raise ZeroDivisionError

    run = Harness(LOST, agent).run()

    with pytest.raises(TripwireFailure) as raised:
        run.check()
    assert raised.value.__cause__ is run.error


async def look(order_id: str) -> dict[str, Any]:
    """What was paid back."""
    raise AssertionError(order_id)


def test_a_stop_that_was_lifted_is_no_interruption(agents: Any) -> None:
    async def agent(task: Task) -> Any:
        # A sync call cannot make the async read that would settle it, so the run goes read-only.
        agents.twice(task)
        return await task.tools["look"]("A-1001")

    spec = ToolSpec(
        name="issue_refund",
        effect=Effect.WRITE,
        operation="refund",
        identity=("order_id",),
        result_id="refund_id",
        reconcile="look",
    )
    roles = {"status": Role(look, {"order_id": RESOURCE})}
    options = Options(roles=roles, specs={"issue_refund": spec})
    run = Harness(LOST, agent, options=options).run()

    modes = [event.mode for event in run.events if isinstance(event, ModeChange)]
    assert modes == ["read_only", "open"]
    assert not run.interrupted
    assert run.cell.ending == "answered"
    run.check()
