"""When a verdict is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.replay.score import Judgement, Tally, expectation_of, is_right, judge
from pytest_tripwire.replay.trace import Expect, TraceVerdict
from pytest_tripwire.timeline import Decision, Reason

Make = Callable[..., Any]

STOP = Expect(
    interrupted=True,
    reason=Reason.DUPLICATE_WRITE,
    also_accept=(Reason.UNKNOWN_SIDE_EFFECT,),
    not_before_step=3,
    at_or_before_step=5,
    executed_writes_max=1,
)


def verdict(step: int | None = 4, **fields: Any) -> TraceVerdict:
    base: dict[str, Any] = {
        "id": "run-1",
        "steps": 9,
        "interrupted": step is not None,
        "step": step,
        "decision": Decision.INTERRUPT if step else None,
        "reason": Reason.DUPLICATE_WRITE if step else None,
        "executed_writes": 1,
    }
    return TraceVerdict(**{**base, **fields})


@pytest.mark.parametrize(
    ("found", "right"),
    [
        (verdict(), True),
        (verdict(3), True),
        (verdict(5), True),
        (verdict(2), False),
        (verdict(6), False),
        (verdict(None), False),
        (verdict(reason=Reason.UNKNOWN_SIDE_EFFECT), True),
        (verdict(reason=Reason.DEADLINE), False),
        (verdict(executed_writes=0), True),
        (verdict(executed_writes=2), False),
        (verdict(decision=Decision.REFUSE), True),
    ],
)
def test_a_hostile_run_has_to_be_stopped_in_time_for_an_accepted_reason(
    found: TraceVerdict,
    *,
    right: bool,
) -> None:
    assert is_right(STOP, found) is right


def test_a_legitimate_run_has_to_be_let_through() -> None:
    assert is_right(Expect(interrupted=False), verdict(None))
    assert not is_right(Expect(interrupted=False), verdict(9))


def test_what_is_not_expected_does_not_matter() -> None:
    assert is_right(Expect(interrupted=True), verdict(1, reason=None, executed_writes=99))


@given(found=st.builds(verdict, st.none() | st.integers(1, 9)), interrupted=st.booleans())
def test_an_expectation_and_its_opposite_are_never_both_right(
    found: TraceVerdict, *, interrupted: bool
) -> None:
    one = is_right(Expect(interrupted=interrupted), found)

    assert one != is_right(Expect(interrupted=not interrupted), found)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"kind": "legit"}, Expect(interrupted=False)),
        ({"kind": "hostile"}, Expect(interrupted=True)),
        ({"kind": "hostile", "expect": STOP}, STOP),
    ],
)
def test_a_kind_says_what_an_expectation_leaves_out(
    fields: dict[str, Any], expected: Expect | None, trace: Make
) -> None:
    assert expectation_of(trace(**fields)) == expected


def test_a_run_without_label_is_not_judged(trace: Make) -> None:
    assert judge(trace(), verdict(), hints=True) is None


def test_a_run_that_needs_hints_counts_only_with_them(trace: Make) -> None:
    one = trace(expect=STOP, needs_hints=True)

    assert judge(one, verdict(), hints=False) is None
    assert judge(one, verdict(), hints=True) is not None


def test_a_judgement_says_what_was_expected_and_what_happened(trace: Make) -> None:
    one = trace(expect=STOP, hazard="lost_write")

    found = judge(one, verdict(6, reason=Reason.DEADLINE, executed_writes=2), hints=True)

    assert found is not None
    assert (found.hazard, found.right) == ("lost_write", False)
    assert found.expected == (
        "a stop for duplicate_write or unknown_side_effect at a step from 3 to 5 "
        "after at most 1 write"
    )
    assert found.happened == "stopped at step 6 for deadline, 2 writes"


def test_a_right_judgement_needs_no_words(trace: Make) -> None:
    found = judge(trace(expect=STOP, hazard="lost_write"), verdict(), hints=True)

    assert found == Judgement(hazard="lost_write", right=True)


def test_a_run_that_was_let_through_says_so(trace: Make) -> None:
    found = judge(trace(expect=STOP), verdict(None), hints=True)

    assert found is not None
    assert (found.hazard, found.happened) == ("other", "let through, 1 write")


def test_a_tally_counts_right_and_wrong_ones() -> None:
    tally = Tally()
    for right in (True, True, False):
        tally = tally.with_one(Judgement(hazard="x", right=right))

    assert (tally.right, tally.total, tally.wrong) == (2, 3, 1)


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        (Expect(interrupted=False), "to be let through"),
        (Expect(interrupted=True), "a stop"),
        (Expect(interrupted=True, not_before_step=4), "a stop at step 4 or later"),
        (Expect(interrupted=True, not_before_step=4, at_or_before_step=4), "a stop at step 4"),
    ],
)
def test_what_was_expected_in_words(expect: Expect, words: str, trace: Make) -> None:
    wrong = verdict(9) if not expect.interrupted else verdict(None)

    found = judge(trace(expect=expect), wrong, hints=True)

    assert found is not None
    assert found.expected == words
