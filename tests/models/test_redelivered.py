"""Writes that reach the business more often than they were proposed, from world events alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models.diagnosis import Diagnosis, Kind, redelivered
from pytest_tripwire.timeline import Delivery, Dispatch, Effect, ModelRequest, WorldEvent

WRITE, OTHER, READ = "issue_refund", "edit_order", "get_refund"


class Trace:
    """Writes a trace; every event gets the next number."""

    def __init__(self) -> None:
        self.events: list[WorldEvent] = []

    def asked(self, *tools: str, who: str = "c") -> None:
        seq = len(self.events) + 1
        self.events.append(ModelRequest(seq=seq, conversation=who, turn=0, says="", proposes=tools))

    def sent(self, tool: str = WRITE, resource: str = "A-1") -> None:
        effect = Effect.READ if tool == READ else Effect.WRITE
        seq = len(self.events) + 1
        self.events.append(Dispatch(seq=seq, tool=tool, role="", effect=effect, resource=resource))

    @property
    def found(self) -> tuple[Diagnosis, ...]:
        return redelivered(self.events)


@pytest.fixture
def trace() -> Trace:
    return Trace()


def test_a_write_that_was_proposed_once_and_sent_twice_is_found(trace: Trace) -> None:
    trace.asked(WRITE)
    trace.sent()
    trace.events.append(Delivery(seq=3, dispatch=2, told="lost"))
    trace.sent()

    (found,) = trace.found
    assert (found.kind, found.seq, found.subject) == (Kind.REDELIVERED, 4, WRITE)
    assert found.message == (
        "issue_refund was proposed once at 1 and reached the business 2 times (2, 4): "
        "something below the model sent it again"
    )


def test_siblings_have_as_many_as_were_proposed(trace: Trace) -> None:
    trace.asked(WRITE, WRITE)
    trace.sent(resource="A-1")
    trace.sent(resource="A-2")
    assert trace.found == ()

    trace.sent(resource="A-2")
    (found,) = trace.found
    assert "was proposed twice at 1 and reached the business 3 times (2, 3, 4)" in found.message
    assert found.seq == 4


def test_a_tool_is_told_once_with_the_number_of_its_requests(trace: Trace) -> None:
    for tool in (WRITE, OTHER, WRITE):
        trace.asked(tool)
        trace.sent(tool)
        trace.sent(tool)

    assert [(each.subject, each.seq, each.times) for each in trace.found] == [
        (WRITE, 3, 2),
        (OTHER, 6, 1),
    ]


def test_a_model_that_proposes_again_is_no_redelivery(trace: Trace) -> None:
    for _ in range(3):
        trace.asked(WRITE)
        trace.sent()

    assert trace.found == ()


def test_a_call_that_comes_late_belongs_to_the_request_that_proposed_it(trace: Trace) -> None:
    trace.asked(WRITE, OTHER)
    trace.asked(WRITE)
    trace.sent()
    trace.sent()
    trace.sent(OTHER)

    assert trace.found == ()


def test_a_write_belongs_to_the_latest_request_that_it_can_come_from(trace: Trace) -> None:
    trace.asked(WRITE)
    trace.asked(WRITE)
    for order in ("A-1", "A-2", "A-1"):
        trace.sent(resource=order)

    (found,) = trace.found
    assert "was proposed once at 2 and reached the business 2 times (3, 5)" in found.message


def test_parallel_agents_have_their_own(trace: Trace) -> None:
    trace.asked(WRITE, who="a")
    trace.asked(WRITE, who="b")
    trace.sent()
    trace.sent()
    assert trace.found == ()

    trace.sent()
    (found,) = trace.found
    assert "proposed once at 2 and" in found.message


def test_what_an_agent_calls_on_its_own_account_is_no_redelivery(trace: Trace) -> None:
    trace.sent()
    trace.sent()
    trace.asked(OTHER)
    trace.sent()
    trace.sent(OTHER)
    trace.asked()
    trace.sent(OTHER)

    assert trace.found == ()


def test_the_tool_of_a_proposal_on_something_else_is_no_redelivery(trace: Trace) -> None:
    trace.asked(WRITE)
    for order in ("A-1", "A-2", "A-3"):
        trace.sent(resource=order)

    assert trace.found == ()


def test_reads_are_made_as_often_as_anybody_likes(trace: Trace) -> None:
    trace.asked(READ)
    for _ in range(4):
        trace.sent(READ)

    assert trace.found == ()


WHO = st.sampled_from(["a", "b"])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=6))
def test_what_is_sent_beyond_all_proposals_is_told_of_the_request_before_it(
    turns: list[tuple[int, int]],
) -> None:
    trace, still, expected = Trace(), 0, []
    for proposed, sent in turns:
        trace.asked(*[WRITE] * proposed)
        still += proposed
        if proposed and sent > still:
            expected.append(len(trace.events) + still + 1)
        for _ in range(sent):
            trace.sent()
        still = max(0, still - sent)

    assert [each.seq for each in trace.found] == expected[:1]
    assert [each.times for each in trace.found] == [len(expected)] * bool(expected)


@settings(max_examples=40)
@given(st.lists(st.tuples(WHO, st.lists(st.sampled_from([WRITE, OTHER]), max_size=3))))
def test_writes_that_follow_their_proposals_in_any_mix_are_in_order(
    asked: list[tuple[str, list[str]]],
) -> None:
    trace, owed = Trace(), []
    for who, tools in asked:
        trace.asked(*tools, who=who)
        owed += tools
        while len(owed) > 2:
            trace.sent(owed.pop(0))
    for tool in owed:
        trace.sent(tool)

    assert trace.found == ()
