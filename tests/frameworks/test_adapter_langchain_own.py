"""Agents that bring the middleware themselves, in the standard cases: alone, guarded twice, and
taken up again by their own breaker and their own checkpoints.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.breaker import Breaker, Interrupted
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import ExternalChange, InterruptionRecord, Mutation, Reason

from ..cases.production_team import factory  # noqa: TID252 - no package to import from
from .langchain_desk import Guarded, agent_for, breaker_of, graph_for, talked
from .langchain_kit import (
    ROADS,
    untraced,  # noqa: F401 - a fixture
)
from .taking_up import WORKFLOW, taken_up

NEEDS = ("langchain", "langgraph")

OWN = Options(protection="own", stops=(Interrupted,))
BUILDS = pytest.mark.parametrize("build", [agent_for, graph_for])
EVERY_WAY = pytest.mark.parametrize("way", ROADS)


@EVERY_WAY
@BUILDS
@pytest.mark.parametrize("case", [each for each in CASE_IDS if each != "stale-resume"])
def test_its_own_protection_alone_contains_the_standard_cases(
    case: str, build: Any, way: str
) -> None:
    agent = Guarded(way, build)

    run = Harness(case, agent, options=OWN).run()

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert agent.runs[0].stats().turns > 0


# -- guarded twice


def twice(case: str, build: Any, way: str) -> Run:
    options = Options(protection="production", breaker=factory(), stops=(Interrupted,))
    return Harness(case, Guarded(way, build), options=options).run()


@EVERY_WAY
@BUILDS
@pytest.mark.parametrize("case", [each for each in CASE_IDS if each != "cost-budget"])
def test_an_agent_that_is_guarded_twice_is_contained(case: str, build: Any, way: str) -> None:
    run = twice(case, build, way)

    assert run.cell.state is State.CONTAINED, run.cell.broken


@EVERY_WAY
@BUILDS
def test_an_agent_that_counts_its_money_itself_is_stopped_by_what_it_counts_first(
    build: Any, way: str
) -> None:
    """It sends no request any more, and so the team's breaker is never asked for the one that it
    would refuse: that is a good end too.
    """
    run = twice("cost-budget", build, way)

    assert isinstance(run.error, Interrupted)
    assert run.error.reason == Reason.COST_BUDGET
    assert run.cell.state is State.CONTAINED, run.cell.broken


# -- taken up again


class Team:
    """An agent that waits for an operator's word, and goes on in its thread.

    Args:
        build: makes its graph.
        way: how the graph is asked.
        now: the version of a record as it is now.
    """

    def __init__(self, build: Any, way: str, now: Callable[[Task, str], str | None]) -> None:
        self._build, self._way, self._now = build, way, now
        self._checkpoints = InMemorySaver()
        self._breaker: Breaker | None = None
        self._record: InterruptionRecord | None = None
        self.said = ""

    def __call__(self, task: Task) -> str:
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        run = self._taken_up(task) if task.resume else self._begun(task)
        graph = self._build(task, run, checkpointer=self._checkpoints)
        try:
            with run:
                talked(graph, said, self._way, "refund-1")
                if not task.resume:
                    run.interrupt("It waits for an operator.")
        except Interrupted as stop:
            self._record = stop.record
        state = graph.get_state({"configurable": {"thread_id": "refund-1"}})
        self.said = str([each.text for each in state.values["messages"]])
        return str(state.values["messages"][-1].text)

    def _begun(self, task: Task) -> Any:
        self._breaker = breaker_of(task)
        return self._breaker.run(workflow=WORKFLOW)

    def _taken_up(self, task: Task) -> Any:
        return taken_up(self._breaker, self._record, lambda order: self._now(task, order))


def as_it_is(task: Task, order: str) -> str | None:
    """Ask the business, and not through the run."""
    return str(task.tools.call("get_order", {"order_id": order})["version"])


def as_it_was(_task: Task, _order: str) -> str | None:
    """What a team says that never asks: the version that the agent has seen."""
    return "1"


def writes(run: Run) -> int:
    return sum(isinstance(each, Mutation) for each in run.events)


@EVERY_WAY
@BUILDS
def test_a_run_that_is_taken_up_on_an_old_version_writes_nothing(build: Any, way: str) -> None:
    team = Team(build, way, as_it_is)

    run = Harness("stale-resume", team, options=OWN).run()

    assert any(isinstance(each, ExternalChange) for each in run.events)
    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert writes(run) == 0
    # It went on in its thread, and was refused there.
    assert "stale_resume" in team.said
    assert "Look at order" in team.said


@EVERY_WAY
@BUILDS
def test_a_team_that_does_not_look_at_the_version_pays_on_it(build: Any, way: str) -> None:
    run = Harness("stale-resume", Team(build, way, as_it_was), options=OWN).run()

    assert run.cell.state is State.ESCAPED
    assert [each.check for each in run.cell.broken] == ["stale-resume"]


@EVERY_WAY
@BUILDS
def test_where_nothing_has_changed_the_approved_write_is_made(build: Any, way: str) -> None:
    run = Harness("stale-resume/unchanged", Team(build, way, as_it_is), options=OWN).run()

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert writes(run) == 1
