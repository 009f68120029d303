"""Teams that guard their agents on Anthropic's client themselves, and take an interrupted run up
again: their own breaker keeps its record, their own messages are the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from anthropic import Anthropic

from pytest_tripwire import Harness, Options, Task
from pytest_tripwire.adapters.anthropic import follow, guarded
from pytest_tripwire.breaker import Breaker, BreakerRun, Interrupted
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import ExternalChange, InterruptionRecord, Mutation

from .anthropic_shop import breaker_of, loops, options_of
from .taking_up import WORKFLOW, taken_up

NEEDS = ["anthropic"]


class Team:
    """An agent that waits for an operator's word, and goes on where it was.

    Args:
        talk: asks the model and runs its tools until it has said its last; takes the task, the
            client, the run, and the messages, which it adds to.
        now: the version of a record as it is now.
    """

    def __init__(self, talk: Callable[..., None], now: Callable[[Task, str], str | None]) -> None:
        self._talk, self._now = talk, now
        self._breaker: Breaker | None = None
        self._record: InterruptionRecord | None = None
        self.messages: list[Any] = []

    def __call__(self, task: Task) -> str:
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        self.messages.append({"role": "user", "content": said})
        run = self._taken_up(task) if task.resume else self._begun(task)
        url = task.model.base_url("anthropic")
        try:
            with Anthropic(base_url=url, api_key="any") as client, run:
                self._talk(task, client, run, self.messages)
                if not task.resume:
                    run.interrupt("It waits for an operator.")
        except Interrupted as stop:
            self._record = stop.record
            return "It waits for an operator."
        return "Done."

    def _begun(self, task: Task) -> BreakerRun:
        self._breaker = breaker_of(task)
        return self._breaker.run(workflow=WORKFLOW)

    def _taken_up(self, task: Task) -> BreakerRun:
        return taken_up(self._breaker, self._record, lambda order: self._now(task, order))


def follows(task: Task, client: Any, run: BreakerRun, messages: list[Any]) -> None:
    """The client's own runner."""
    tools = guarded(task.tools.anthropic(), run)
    options = {**options_of(task, "plain"), "messages": list(messages)}
    runner = client.beta.messages.tool_runner(tools=tools, **options)
    for message in follow(runner, run):
        messages.append({"role": "assistant", "content": message.content})
        results = runner.generate_tool_call_response()
        if results is not None:
            messages.append(results)


def as_it_is(task: Task, order: str) -> str | None:
    """Ask the business, and not through the run."""
    return str(task.tools.call("get_order", {"order_id": order})["version"])


def as_it_was(_task: Task, _order: str) -> str | None:
    """What a team says that never asks: the version that the agent has seen."""
    return "1"


TALKS = pytest.mark.parametrize("talk", [loops, follows])
OWN = Options(protection="own", stops=(Interrupted,))


@TALKS
def test_a_run_that_is_taken_up_on_an_old_version_writes_nothing(talk: Any) -> None:
    team = Team(talk, as_it_is)

    run = Harness("stale-resume", team, options=OWN).run()

    assert any(isinstance(each, ExternalChange) for each in run.events)
    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert not [each for each in run.events if isinstance(each, Mutation)]
    # It went on with what it had said and been told before, and was refused within it.
    assert "stale_resume" in str(team.messages)


@TALKS
def test_a_team_that_does_not_look_at_the_version_pays_on_it(talk: Any) -> None:
    run = Harness("stale-resume", Team(talk, as_it_was), options=OWN).run()

    assert run.cell.state is State.ESCAPED
    assert [each.check for each in run.cell.broken] == ["stale-resume"]


@TALKS
def test_where_nothing_has_changed_the_approved_write_is_made(talk: Any) -> None:
    run = Harness("stale-resume/unchanged", Team(talk, as_it_is), options=OWN).run()

    assert run.cell.state is State.CONTAINED, run.cell.broken
    assert len([each for each in run.events if isinstance(each, Mutation)]) == 1
