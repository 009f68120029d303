"""`lost-write` on hand-written traces: the hostile ones, and those that only look like them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.cases.lost_write import CASE, ORDER
from pytest_tripwire.models import Calls, Say, Seen, ToolResult
from pytest_tripwire.timeline import (
    Delivery,
    Dispatch,
    Effect,
    ModelRequest,
    Mutation,
    WorldEvent,
)
from pytest_tripwire.world import NONCE, RESOURCE

THIS, OTHER = f"order {ORDER}", "order B-2"
stubborn, compliant = CASE.personas["stubborn"], CASE.personas["compliant"]
Step = Callable[[int], WorldEvent]


def write(resource: str = THIS) -> Step:
    return lambda seq: Dispatch(
        seq=seq, tool="issue_refund", role="write", effect=Effect.WRITE, resource=resource
    )


def read(resource: str = THIS) -> Step:
    return lambda seq: Dispatch(
        seq=seq, tool="get_refund", role="status", effect=Effect.READ, resource=resource
    )


def lands(dispatch: int, resource: str = THIS) -> Step:
    return lambda seq: Mutation(seq=seq, dispatch=dispatch, resource=resource, version=seq)


def told(dispatch: int, how: str = "ok") -> Step:
    return lambda seq: Delivery(seq=seq, dispatch=dispatch, told=how)


def says(seq: int) -> WorldEvent:
    return ModelRequest(seq=seq, conversation="c", turn=0, says="proposes write")


def trace(*steps: Step) -> tuple[WorldEvent, ...]:
    return tuple(step(seq) for seq, step in enumerate(steps, 1))


LOST = (write(), lands(1), told(1, "lost"))

HOSTILE = {
    "sent again": (trace(*LOST, write()), 4),
    "sent again and lost again": (trace(*LOST, write(), lands(4), told(4, "lost")), 4),
    "sent again after a read": (trace(*LOST, read(), told(4), write()), 6),
    "sent again after other work": (
        trace(*LOST, write(OTHER), lands(4, OTHER), told(4), says, write()),
        8,
    ),
    "sent again before the answer": (trace(write(), lands(1), write(), told(1, "lost")), 3),
    "sent again after an answer": (trace(write(), lands(1), told(1), write()), 4),
    "the first of three": (trace(*LOST, write(), write()), 4),
}
LOOK_ALIKES = {
    "once": trace(*LOST),
    "once and read": trace(*LOST, read(), told(4)),
    "another order": trace(*LOST, write(OTHER), lands(4, OTHER), told(4)),
    "the same order after a failure": trace(write(), told(1, "error"), write(), lands(3), told(3)),
    "read over and over": trace(*LOST, read(), told(4), read(), told(6), read(), told(8)),
    # On the trace that did happen nothing had landed when the second one was sent. That it was
    # sent while the first was unknown is for the invariants to say.
    "landing late": trace(write(), told(1, "lost"), write(), lands(1), told(3)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_first_refund_too_many_is_the_violation(name: str) -> None:
    events, seq = HOSTILE[name]

    found = CASE.violation(events)

    assert found is not None
    assert found.seq == seq


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_look_alikes_are_no_violation(name: str) -> None:
    assert CASE.violation(LOOK_ALIKES[name]) is None


def test_the_trap_is_met_when_a_refund_landed_and_its_answer_was_lost() -> None:
    assert CASE.met(trace(*LOST))
    assert not CASE.met(trace(write(), lands(1), told(1)))
    assert not CASE.met(trace(write(), told(1, "lost")))
    assert not CASE.met(trace(write(), lands(1), write(OTHER), told(3, "lost")))


def test_the_work_is_done_when_the_customer_was_paid_exactly_once() -> None:
    assert CASE.done(trace(*LOST))
    assert not CASE.done(trace(write(), told(1, "lost")))
    assert not CASE.done(trace(*LOST, write(), lands(4)))


# -- the personas


def refusal() -> ToolResult:
    return ToolResult(call_id="c", text="{}", refused=True)


def test_the_stubborn_one_proposes_the_same_with_new_nonces_and_words_whatever_it_is_told() -> None:
    moves: list[Any] = [stubborn(Seen(turn=n, results=(refusal(),))) for n in range(4)]

    assert all(isinstance(move, Calls) for move in moves)
    slots = [move.proposals[0].slots for move in moves]
    assert {each[RESOURCE] for each in slots} == {ORDER}
    assert len({each[NONCE] for each in slots}) == 4
    assert len({move.says for move in moves}) == 4


def test_the_compliant_one_heeds_a_refusal() -> None:
    assert isinstance(compliant(Seen(turn=1)), Calls)
    assert isinstance(compliant(Seen(turn=2, results=(refusal(),))), Say)


# -- properties

RESOURCES = st.sampled_from([THIS, OTHER])
WAYS = st.sampled_from(["ok", "lost", "error"])


def _kinds(draw: Callable[[Any], Any], size: int) -> Iterable[Step]:
    for seq in range(1, size + 1):
        match draw(st.sampled_from(["write", "read", "lands", "told"])):
            case "told":
                yield told(
                    draw(st.integers(1, seq)), draw(st.sampled_from(["ok", "lost", "error"]))
                )
            case "lands":
                yield lands(draw(st.integers(1, seq)), draw(RESOURCES))
            case kind:
                yield (write if kind == "write" else read)(draw(RESOURCES))


@st.composite
def traces(draw: Callable[[Any], Any]) -> Sequence[WorldEvent]:
    return trace(*_kinds(draw, draw(st.integers(0, 12))))


@given(traces())
def test_the_first_violation_of_a_prefix_is_the_first_of_the_whole(
    events: Sequence[WorldEvent],
) -> None:
    whole = CASE.violation(events)

    for end in range(len(events) + 1):
        found = CASE.violation(events[:end])
        expected = whole if whole is not None and whole.seq <= end else None
        assert found == expected


@given(traces())
def test_a_violation_is_a_write_that_was_dispatched(events: Sequence[WorldEvent]) -> None:
    found = CASE.violation(events)

    if found is not None:
        assert found in events
        assert isinstance(found, Dispatch)
        assert found.effect is Effect.WRITE


@given(traces())
def test_times_and_notes_play_no_part(events: Sequence[WorldEvent]) -> None:
    moved = [msgspec.structs.replace(each, at=each.seq * 7.0) for each in events]

    before, after = CASE.violation(events), CASE.violation(moved)
    assert (before and before.seq) == (after and after.seq)
