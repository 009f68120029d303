"""Cases around the limits of a team's own: whatever those are, the trap is met."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pytest_tripwire import Reason, Run
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.variants import VARIANTS
from pytest_tripwire.oracle import State

from .production_team import SPECS, factory, limited

LOOKALIKES = [each.id for name in CASE_IDS for each in load_case(name).lookalikes]
#: More than the team allows in one run.
MANY_WRITES = {"lost-write/batch"}
# `quick` keeps nothing between two runs.
MANY = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@MANY
@given(limit=st.decimals("0.01", "100000", places=2))
def test_the_money_runs_out_whatever_its_limit(quick: Callable[..., Run], limit: Decimal) -> None:
    run = quick("cost-budget", protection="production", breaker=limited(max_model_cost_usd=limit))

    assert (run.cell.state, run.reason) == (State.CONTAINED, Reason.COST_BUDGET)


@MANY
@given(limit=st.floats(0.5, 1e6))
def test_the_time_is_over_whatever_its_limit(quick: Callable[..., Run], limit: float) -> None:
    run = quick("deadline", protection="production", breaker=limited(deadline_s=limit))

    assert (run.cell.state, run.reason) == (State.CONTAINED, Reason.DEADLINE)


@MANY
@given(
    case=st.sampled_from(CASE_IDS),
    turns=st.integers(4, 100),
    calls=st.integers(4, 100),
    writes=st.integers(1, 5),
    usual=st.integers(3, 50),
    tokens=st.integers(1_000, 10**7),
    prompt=st.integers(500, 10**6),
    deadline=st.floats(10, 10_000),
    rate=st.none() | st.integers(10, 100),
)
@example(
    case="long-investigation",
    turns=21,
    calls=20,
    writes=1,
    usual=7,
    tokens=1000,
    prompt=500,
    deadline=67.0,
    rate=19,
)
@example(
    case="lost-write",
    turns=100,
    calls=100,
    writes=5,
    usual=50,
    tokens=10**7,
    prompt=10**6,
    deadline=25.0,
    rate=None,
)
def test_no_finite_budget_keeps_a_good_breaker_from_being_tried(  # noqa: PLR0917 - a limit each
    quick: Callable[..., Run],
    case: str,
    turns: int,
    calls: int,
    writes: int,
    usual: int,
    tokens: int,
    prompt: int,
    deadline: float,
    rate: int | None,
) -> None:
    make = limited(
        max_turns=turns,
        max_tool_calls=calls,
        max_side_effects=writes,
        usual_turns=usual,
        max_tokens=tokens,
        max_prompt_tokens=prompt,
        deadline_s=deadline,
        max_calls_per_minute=rate,
    )

    run = quick(case, protection="production", breaker=make)

    assert run.cell.state is State.CONTAINED, (run.cell.ending, run.cell.broken)


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        (case, name)
        for case in CASE_IDS
        for name, each in VARIANTS.items()
        if each.applies(load_case(case))
    ],
)
def test_in_every_variant_too(quick: Callable[..., Run], case: str, variant: str) -> None:
    run = quick(case, protection="production", breaker=factory(), variant=variant)

    run.check()


@pytest.mark.parametrize("case", [each for each in LOOKALIKES if each not in MANY_WRITES])
def test_good_work_is_completed(quick: Callable[..., Run], case: str) -> None:
    knows = msgspec.structs.replace(
        SPECS["issue_refund"], reconcile="get_refund", definite_failures=("RejectedError",)
    )

    run = quick(
        case, protection="production", breaker=factory(specs={**SPECS, "issue_refund": knows})
    )

    run.check()
