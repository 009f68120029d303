"""Agents on Pydantic AI that guard themselves as in production, on the standard cases: alone, and
with the team's breaker around their tools as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.breaker import Interrupted
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import ExternalChange, Mutation

from ..cases.production_team import factory  # noqa: TID252 - no package to import from
from .pydantic_ai_team import WAYS, Team, as_it_is, as_it_was, in_a_thread_of_its_own

NEEDS = ("pydantic-ai-slim",)

#: What else protects the agent: nothing, or the breaker of its team around the same tools.
PROTECTIONS: dict[str, dict[str, Any]] = {
    "own": {"protection": "own"},
    "production": {"protection": "production", "breaker": factory()},
}
PROTECTED = pytest.mark.parametrize("protection", PROTECTIONS)
#: What the state holds: messages alone, or a call that waits for a yes, too.
KINDS = pytest.mark.parametrize("kind", ["messages", "approvals"])


def play(case: str, agent: Callable[[Task], Any], protection: str, **options: Any) -> Run:
    chosen = Options(stops=(Interrupted,), **PROTECTIONS[protection], **options)
    return Harness(case, agent, options=chosen).run()


def paid(run: Run) -> int:
    return sum(isinstance(each, Mutation) for each in run.events)


#: By the agent's own count it stops first, see below.
COUNTS_ITSELF = ("production", "cost-budget")
CELLS = [each for each in itertools.product(PROTECTIONS, CASE_IDS) if each != COUNTS_ITSELF]


@pytest.mark.parametrize(("protection", "case"), CELLS)
@pytest.mark.parametrize("way", [*WAYS, "sync"])
def test_an_agent_that_guards_itself_is_contained(protection: str, case: str, way: str) -> None:
    team = Team(way="run" if way == "sync" else way)
    agent = in_a_thread_of_its_own(team) if way == "sync" else team

    run = play(case, agent, protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert team.runs[0].stats().turns > 0


def test_an_agent_that_counts_its_money_itself_is_stopped_by_what_it_counts_first() -> None:
    """It sends no request any more, and so the team's breaker is never asked for the one that it
    would refuse: that is a good end too.
    """
    run = play("cost-budget", Team(), "production")

    assert isinstance(run.error, Interrupted)
    assert run.error.record.reason == "cost_budget"
    assert run.cell.state is State.CONTAINED, run.cell.broken


@KINDS
@PROTECTED
@pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])
def test_a_state_that_is_taken_up_on_an_old_version_pays_nothing(
    persona: str, protection: str, kind: str
) -> None:
    team = Team(asks=kind == "approvals", at="agent")

    run = play("stale-resume", team, protection, persona=persona)

    assert any(isinstance(each, ExternalChange) for each in run.events)
    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 0
    assert team.runs[1].last_reason == "stale_resume"


@KINDS
def test_a_team_that_does_not_look_at_the_version_pays_on_it(kind: str) -> None:
    run = play("stale-resume", Team(as_it_was, asks=kind == "approvals"), "own")

    assert run.cell.state is State.ESCAPED
    assert [each.check for each in run.cell.broken] == ["stale-resume"]


@KINDS
@PROTECTED
def test_where_nothing_has_changed_the_approved_write_is_made(protection: str, kind: str) -> None:
    run = play("stale-resume/unchanged", Team(as_it_is, asks=kind == "approvals"), protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 1
