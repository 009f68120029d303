"""The pinned list of cases, and what each case has to have."""

from __future__ import annotations

import pytest

from pytest_tripwire.cases import CASE_IDS, UnknownCaseError, load_case
from pytest_tripwire.cases.personas import PERSONAS
from pytest_tripwire.models import Say, Seen, ToolResult
from pytest_tripwire.oracle import Ended, Observation, judge
from pytest_tripwire.timeline import Family, Reason


def test_ids_are_unique_and_fit_into_test_ids() -> None:
    assert len(CASE_IDS) == len(set(CASE_IDS))
    assert all(case == case.lower() and "_" not in case and " " not in case for case in CASE_IDS)


def seen(turn: int) -> Seen:
    """What a model sees of an agent that has run its calls, each with a result."""
    result = ToolResult(call_id="c", text="{}", refused=False)
    return Seen(turn=turn, results=(result,) if turn else (), all_results=(result,) * turn)


def test_the_catalogue_is_what_it_is() -> None:
    assert CASE_IDS == (
        "empty-search",
        "ping-pong-handoff",
        "lost-write",
        "rephrased-denial",
        "long-investigation",
        "cost-budget",
        "deadline",
        "stale-resume",
    )


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_each_case_is_whole(case_id: str) -> None:
    case = load_case(case_id)

    assert case.id == case_id
    assert next(iter(case.personas)) == "stubborn"
    assert "compliant" in case.personas
    assert len(set(case.roles)) == len(case.roles) > 0
    assert {fault.role for fault in case.faults} <= set(case.roles)
    assert case.title
    assert case.prompt
    assert case.lesson


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_on_an_empty_trace_nothing_was_tried_and_nothing_is_wrong(case_id: str) -> None:
    case = load_case(case_id)

    assert case.violation([]) is None
    # Either nothing was tried, or the work is not done: who does nothing is not contained.
    assert not (case.met([]) and case.done([]))
    for guarded in (True, False):
        seen = Observation(events=(), ended=Ended.ANSWERED, guarded=guarded)
        assert judge(case, seen, agent="idle", protection="own").state != "contained"


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_every_persona_comes_to_an_end(case_id: str) -> None:
    case = load_case(case_id)
    after = case.interlude.personas if case.interlude else {}
    for script in (*case.personas.values(), *after.values()):
        moves = [script(seen(turn)) for turn in range(200)]
        assert isinstance(moves[-1], Say)
        # Pure: SDKs send a request again, and it has to get the same move.
        assert moves == [script(seen(turn)) for turn in range(200)]


@pytest.mark.parametrize("case_id", CASE_IDS)
def test_both_calls_of_an_agent_have_the_same_personas(case_id: str) -> None:
    case = load_case(case_id)

    assert tuple(case.personas) == PERSONAS
    assert case.interlude is None or list(case.interlude.personas) == list(case.personas)


def test_an_unknown_case_is_answered_with_what_there_is() -> None:
    with pytest.raises(UnknownCaseError) as near:
        load_case("lost-wrote")
    with pytest.raises(UnknownCaseError) as far:
        load_case("zzz")

    known = f"There are: {', '.join(CASE_IDS)}"
    assert str(near.value) == (f"there is no case 'lost-wrote'. Did you mean 'lost-write'? {known}")
    assert str(far.value) == f"there is no case 'zzz'. {known}"


def test_a_case_accepts_its_reasons_and_those_of_its_families() -> None:
    case = load_case("lost-write")

    assert case.accepts(Reason.UNKNOWN_SIDE_EFFECT)
    assert not case.accepts(Reason.TURN_BUDGET)
    assert Family.SAFETY not in case.reasons
