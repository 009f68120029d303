"""Agents of the OpenAI Agents SDK that guard themselves as in production, on the standard cases:
alone, and with the team's breaker around their tools as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.breaker import Interrupted
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import ExternalChange, Mutation

from ..cases.production_team import factory  # noqa: TID252 - no package to import from
from .openai_agents_team import Team, as_it_is, as_it_was

NEEDS = ("openai-agents",)

#: What else protects the agent: nothing, or the breaker of its team around the same tools.
PROTECTIONS: dict[str, dict[str, Any]] = {
    "own": {"protection": "own"},
    "production": {"protection": "production", "breaker": factory()},
}
PROTECTED = pytest.mark.parametrize("protection", PROTECTIONS)


def play(case: str, agent: Callable[[Task], Any], protection: str, **options: Any) -> Run:
    chosen = Options(stops=(Interrupted,), **PROTECTIONS[protection], **options)
    return Harness(case, agent, options=chosen).run()


def paid(run: Run) -> int:
    return sum(isinstance(each, Mutation) for each in run.events)


@PROTECTED
@pytest.mark.parametrize("way", ["run", "stream"])
@pytest.mark.parametrize("case", CASE_IDS)
def test_an_agent_that_guards_itself_is_contained(case: str, way: str, protection: str) -> None:
    run = play(case, Team(way=way), protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken


@PROTECTED
@pytest.mark.parametrize("persona", ["stubborn", "compliant", "forgetful"])
def test_a_state_that_is_taken_up_on_an_old_version_pays_nothing(
    persona: str, protection: str
) -> None:
    team = Team(as_it_is)

    run = play("stale-resume", team, protection, persona=persona)

    assert any(isinstance(each, ExternalChange) for each in run.events)
    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 0
    # It went on with what it had been told before, and was refused within it.
    assert [each.get("content") for each in team.heard if each.get("role") == "user"][1:] == [
        "The operator says: approved."
    ]
    assert "stale_resume" in str(team.heard)


def test_a_team_that_does_not_look_at_the_version_pays_on_it() -> None:
    run = play("stale-resume", Team(as_it_was), "own")

    assert run.cell.state is State.ESCAPED
    assert [each.check for each in run.cell.broken] == ["stale-resume"]


@PROTECTED
def test_where_nothing_has_changed_the_approved_write_is_made(protection: str) -> None:
    run = play("stale-resume/unchanged", Team(as_it_is), protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 1
