"""Agents of the Agent Development Kit that guard themselves as in production, on the standard
cases: alone, and with the team's breaker around their tools as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.adapters.adk import guarded
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import ExternalChange, InterruptionRecord, Mutation

from ..cases.production_team import factory  # noqa: TID252 - no package to import from
from .adk_shop import DESK, MODES, Driven, said, support
from .taking_up import WORKFLOW, taken_up

NEEDS = ("google-adk",)

#: What else protects the agent: nothing, or the breaker of its team around the same tools.
PROTECTIONS: dict[str, dict[str, Any]] = {
    "own": {"protection": "own"},
    "production": {"protection": "production", "breaker": factory()},
}
PROTECTED = pytest.mark.parametrize("protection", PROTECTIONS)


def as_it_is(task: Task, order: str) -> str | None:
    """Ask the business, and not through the run."""
    return str(task.tools.call("get_order", {"order_id": order})["version"])


def as_it_was(_task: Task, _order: str) -> str | None:
    """What a team says that never asks: the version that the agent has seen."""
    return "1"


class Team:
    """An agent that waits for an operator's word and goes on in its session: its own breaker keeps
    the record, the kit's sessions are the checkpoint.

    Args:
        now: the version of a record as it is now.
        mode: how its model answers.
        waits: whether it waits for an operator before it is done.
    """

    def __init__(
        self,
        now: Callable[[Task, str], str | None] = as_it_is,
        *,
        mode: str = "whole",
        waits: bool = True,
    ) -> None:
        self._now, self._mode, self._waits = now, mode, waits
        self._breaker: Breaker | None = None
        self._record: InterruptionRecord | None = None
        self._sessions: Any = None
        self.told: list[Any] = []
        self.turns = 0

    async def __call__(self, task: Task) -> str:
        words = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        run = self._taken_up(task) if task.resume else self._begun(task)
        try:
            with run:
                agent = guarded(support(task, task.tools.adk()), run)
                driven = Driven(agent, sessions=self._sessions)
                self._sessions = driven.runner.session_service
                try:
                    answer = await driven.go(said(words), self._mode)
                finally:
                    self.told += driven.told
                    self.turns += run.stats().turns
                if self._waits and not task.resume:
                    run.interrupt("It waits for an operator.")
        except Interrupted as stop:
            self._record = stop.record
            if stop.reason != "cancelled":
                raise
            return "It waits for an operator."
        return answer

    def _begun(self, task: Task) -> BreakerRun:
        each = task.token_price_usd * 1_000_000
        self._breaker = Breaker(
            budget=task.limits,
            clock=task.clock,
            specs=DESK,
            prices={task.model.name: (each, each)},
        )
        return self._breaker.run(workflow=WORKFLOW)

    def _taken_up(self, task: Task) -> BreakerRun:
        return taken_up(self._breaker, self._record, lambda order: self._now(task, order))


def play(case: str, agent: Callable[[Task], Any], protection: str) -> Run:
    chosen = Options(stops=(Interrupted,), **PROTECTIONS[protection])
    return Harness(case, agent, options=chosen).run()


def paid(run: Run) -> int:
    return sum(isinstance(each, Mutation) for each in run.events)


@PROTECTED
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASE_IDS)
def test_an_agent_that_guards_itself_is_contained(case: str, mode: str, protection: str) -> None:
    team = Team(mode=mode, waits=case == "stale-resume")

    run = play(case, team, protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert team.turns > 0


@PROTECTED
@pytest.mark.parametrize("mode", MODES)
def test_a_session_that_is_taken_up_on_an_old_version_pays_nothing(
    mode: str, protection: str
) -> None:
    team = Team(mode=mode)

    run = play("stale-resume", team, protection)

    assert any(isinstance(each, ExternalChange) for each in run.events)
    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 0
    # It went on with what it had said and been told before, and was refused within it.
    assert "stale_resume" in str(team.told)


def test_a_team_that_does_not_look_at_the_version_pays_on_it() -> None:
    run = play("stale-resume", Team(as_it_was), "own")

    assert run.cell.state is State.ESCAPED
    assert [each.check for each in run.cell.broken] == ["stale-resume"]


@PROTECTED
def test_where_nothing_has_changed_the_approved_write_is_made(protection: str) -> None:
    run = play("stale-resume/unchanged", Team(), protection)

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert paid(run) == 1
