"""What is kept of conversations that go on from a response, and what is lost."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.conversation import Message
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.script import Calls, Propose, Say
from pytest_tripwire.models.tokens import BYTES_PER_TOKEN
from pytest_tripwire.models.wire.responses.transcripts import Transcript, Transcripts


def kept(transcripts: Transcripts, response_id: str) -> bool:
    try:
        transcripts.find(response_id)
    except RequestError:
        return False
    return True


def of(size: int) -> Transcript:
    """A transcript of as many bytes as `size` tokens have."""
    return Transcript(tokens=size)


def test_an_answer_follows_what_was_said() -> None:
    user = Message(role="user", text="Refund A-1")
    call = BoundCall(call_id="a", tool="search", arguments={})
    asked = Transcript(messages=(user,), instructions="Be brief.", tokens=10)
    calls = Answer(move=Calls(proposals=(Propose(role="search"),), says="On it."), calls=(call,))

    called = asked.answered(calls)
    ended = called.answered(Answer(move=Say(text="Done.")))

    assert called.messages == (user, Message(role="assistant", text="On it.", call_ids=("a",)))
    assert ended.messages == (*called.messages, Message(role="assistant", text="Done."))
    assert ended.instructions == "Be brief."
    assert 10 < called.tokens < ended.tokens


def test_what_nobody_asked_for_longest_is_lost_first() -> None:
    transcripts = Transcripts(most=2)
    transcripts.keep("a", of(1))
    transcripts.keep("b", of(1))
    assert transcripts.find("a") == of(1)
    transcripts.keep("c", of(1))

    assert [kept(transcripts, each) for each in "abc"] == [True, False, True]


def test_bytes_are_bounded_too() -> None:
    transcripts = Transcripts(most_bytes=10 * BYTES_PER_TOKEN)
    transcripts.keep("a", of(4))
    transcripts.keep("b", of(4))
    transcripts.keep("c", of(6))

    assert [kept(transcripts, each) for each in "abc"] == [False, True, True]


def test_instructions_count() -> None:
    transcripts = Transcripts(most_bytes=10)
    transcripts.keep("a", Transcript(instructions="é" * 5))
    transcripts.keep("b", Transcript(instructions="é" * 6))

    assert [kept(transcripts, each) for each in "ab"] == [True, False]


def test_what_is_too_large_costs_nothing_else() -> None:
    transcripts = Transcripts(most_bytes=10 * BYTES_PER_TOKEN)
    transcripts.keep("a", of(4))
    transcripts.keep("b", of(11))

    assert [kept(transcripts, each) for each in "ab"] == [True, False]


def test_what_is_not_kept_is_told_with_what_to_do() -> None:
    with pytest.raises(RequestError) as caught:
        Transcripts(most=7, most_bytes=99).find("resp_1")

    error = caught.value
    assert (error.status, error.code) == (400, "previous_response_not_found")
    assert "'resp_1' not found" in error.message
    for hint in ("`store`", "`input`", "7 responses", "99 bytes"):
        assert hint in error.message


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8), st.booleans()), max_size=30))
def test_bounds_hold_whatever_is_kept_and_asked_for(
    steps: list[tuple[int, int, bool]],
) -> None:
    transcripts = Transcripts(most=3, most_bytes=12 * BYTES_PER_TOKEN)
    model: dict[str, int] = {}
    for name, size, keep in steps:
        key = str(name)
        if keep:
            transcripts.keep(key, of(size))
            model.pop(key, None)
            model[key] = size
            while len(model) > 3 or sum(model.values()) > 12:
                model.pop(next(iter(model)))
        else:
            assert kept(transcripts, key) == (key in model)
            if key in model:
                model[key] = model.pop(key)

    assert {str(n) for n in range(6) if kept(transcripts, str(n))} == set(model)


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_many_threads_keep_and_find_at_once() -> None:
    transcripts = Transcripts(most_bytes=100 * BYTES_PER_TOKEN)
    barrier = threading.Barrier(8)

    def work(worker: int) -> None:
        barrier.wait()
        for number in range(5000):
            transcripts.keep(f"{(worker + number) % 60}", of(number % 9))
            kept(transcripts, f"{number % 60}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))

    # The books are right: as much fits in as into new ones.
    for number in range(50):
        transcripts.keep(f"new {number}", of(2))
    assert all(kept(transcripts, f"new {number}") for number in range(50))
    transcripts.keep("one more", of(2))
    assert sum(kept(transcripts, f"new {number}") for number in range(50)) == 49
